#!/bin/sh
# Renders the reference of the SDK as HTML, from the headers and the pages of sdk/docs. Needs doxygen and python3. Fails if
# Doxygen finds a reference that leads nowhere, which it prints.
#
#   sh sdk/docs/reference/render.sh FOLDER          the start page is FOLDER/index.html
#   sh sdk/docs/reference/render.sh FOLDER --xml    also FOLDER/xml, for programs
set -eu
case ${1:-} in
  '' | -*)
    echo "usage: render.sh FOLDER [--xml]" >&2
    exit 2
    ;;
esac
mkdir -p "$1"
KRL_OUTPUT=$(cd "$1" && pwd)
KRL_XML=NO
[ "${2:-}" != --xml ] || KRL_XML=YES
cd "$(dirname "$0")/../.."
KRL_BOUNDARY="boundary $(sed -n '1s/.*, version \([0-9.]*\):.*/\1/p' include/kernelrl/abi.h)"
export KRL_OUTPUT KRL_XML KRL_BOUNDARY PYTHONDONTWRITEBYTECODE=1
exec doxygen docs/reference/Doxyfile
