# Completes the commands, options and names of kernelrl in bash, as the program itself knows them.
_kernelrl() {
  local word=${COMP_WORDS[COMP_CWORD]}
  mapfile -t COMPREPLY < <(compgen -W "$(KERNELRL_COMPLETE=1 "${COMP_WORDS[@]:0:COMP_CWORD}" 2> /dev/null)" -- "$word")
  ((${#COMPREPLY[@]} > 0)) || compopt -o default
}
complete -F _kernelrl kernelrl
