# Completes the commands, options and names of kernelrl in fish, as the program itself knows them.
function __kernelrl_complete
    set -l words (commandline -opc)
    set -l option (string match -r -- '^--[^=]+(?==)' (commandline -ct))
    set words[1] (string replace -r -- '^~(?=/)' $HOME $words[1])
    type -q $words[1]; or return
    if set -q option[1]
        set -l values (KERNELRL_COMPLETE=1 $words $option 2> /dev/null)
        string replace -r -- '^' $option= (string match -v -- '-*' $values)
    else
        KERNELRL_COMPLETE=1 $words 2> /dev/null
    end
end
complete -c kernelrl -n 'test (count (commandline -opc)) -eq 1; and not string match -q -- "-*" (commandline -ct)' -f
complete -c kernelrl -a '(__kernelrl_complete)'
