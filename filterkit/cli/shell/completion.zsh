#compdef filterkit
_filterkit() {
    local -a lines fields plain plain_shown open open_shown
    local line shown files
    lines=("${(@f)$(_FILTERKIT_COMPLETE=zsh_complete _FILTERKIT_AFTER=$RBUFFER "${(Q)words[1]}" \
        "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for line in "${lines[@]}"; do
        fields=("${(@ps:\t:)line}")
        shown=$fields[2]${fields[3]:+"  -- $fields[3]"}
        case $fields[1] in
            plain) plain+=("$fields[2]"); plain_shown+=("$shown") ;;
            open) open+=("$fields[2]"); open_shown+=("$shown") ;;
            files) files=yes ;;
        esac
    done
    (( $#plain )) && compadd -l -d plain_shown -a plain
    (( $#open )) && compadd -l -S '' -d open_shown -a open
    if [[ -n $files ]]; then
        [[ $PREFIX == --*=* ]] && compset -P '*='
        _files
    fi
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _filterkit "$@"
else
    compdef _filterkit filterkit
fi
