# Completes the commands, options and names of kernelrl in fish, as the program itself knows them.
function __kernelrl_complete
    set -l words (commandline -opc)
    KERNELRL_COMPLETE=1 $words 2> /dev/null
end
complete -c kernelrl -a '(__kernelrl_complete)'
