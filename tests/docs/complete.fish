# complete.fish FILE LINE: what the completion in FILE offers at the end of
# LINE, one a line.  xcmd is a command whose completion is one, two or --three.
source $argv[1]
function xcmd
end
complete -c xcmd -f -a 'one two'
complete -c xcmd -l three
# A value behind '=' comes with its option.
complete -C $argv[2] | string replace -r '\t.*' '' | string replace -r '^--.*=(.)' '$1'
