# Completes the commands, options and names of kernelrl in bash, as the program itself knows them.
_kernelrl() {
  local word=${COMP_WORDS[COMP_CWORD]} known name
  local -a call=("${COMP_WORDS[@]:0:COMP_CWORD}")
  # Bash takes --backend=cpu for three words.
  [[ $word == '=' ]] && call+=('=') word=
  [[ ${#call[@]} -gt 2 && ${call[-1]} == '=' && ${call[-2]} == --* ]] && unset 'call[-1]'
  call[0]=${call[0]/#~\//"$HOME"/}
  mapfile -t known < <(KERNELRL_COMPLETE=1 "${call[@]}" 2> /dev/null)
  COMPREPLY=()
  for name in "${known[@]}"; do
    # Options only where one is begun, or else they would hide the files; compgen -W would run $(…) in a name.
    [[ $name != -* || $word == -* || COMP_CWORD -eq 1 ]] || continue
    [[ $word == [\"\']* ]] || printf -v name %q "$name"
    [[ $name == "${word#[\"\']}"* ]] && COMPREPLY+=("$name")
  done
  ((${#COMPREPLY[@]} > 0)) || compopt -o default
}
complete -F _kernelrl kernelrl
