function __filterkit_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (_FILTERKIT_COMPLETE=fish_complete $words[1] $words[2..-1] "$current" 2>/dev/null)
        set -l fields (string split \t -- $line)
        if test $fields[1] = files
            set -l flag (string match -r -- '^--[a-z-]+=' $fields[2])
            for path in (__fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $fields[2]))
                printf '%s%s\n' "$flag" $path
            end
        else
            printf '%s\t%s\n' $fields[2] "$fields[3]"
        end
    end
end
complete --no-files --command filterkit --arguments '(__filterkit_complete)'
