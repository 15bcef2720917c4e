_filterkit_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(COMP_WORDBREAKS="$COMP_WORDBREAKS" _FILTERKIT_COMPLETE=bash_complete \
        _FILTERKIT_AFTER="${COMP_LINE:COMP_POINT}" "$1" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o nospace -F _filterkit_completion filterkit
