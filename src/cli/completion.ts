import { COMMAND_NAMES, COMMANDS, DEFAULT_COMMAND, isCommandName, PROGRAM, type Shell } from './commands.ts';
import { file } from './flag-kind.ts';
import { flagsOf } from './flags.ts';
import { readArguments, SPELLINGS } from './parse.ts';

/** The first argument with which the scripts run the program; the words of the command line up to the cursor follow. */
export const COMPLETE = '__complete';

/** Instead of candidates, where a file name is expected. */
const FILES = ':files';

/** The candidates for the last word, one per line, each with a tab and its help if it has one. */
export function completions(words: readonly string[]): string {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const values = valueCandidates(before.at(-1), current);
  if (values?.[0] === FILES) return `${FILES}\n`;
  return (values ?? wordCandidates(before, current))
    .filter((candidate) => candidate.startsWith(current))
    .map((candidate) => `${candidate}\n`)
    .join('');
}

/** The values of a flag, after its equal sign or as the next word; undefined: no value is expected. */
function valueCandidates(previous = '', current: string): readonly string[] | undefined {
  const [assigned = ''] = /^--[^=]+=/.exec(current) ?? [];
  const spelling = SPELLINGS.get(assigned === '' ? previous : assigned.slice(0, -1));
  if (spelling === undefined || spelling.implied !== undefined) return undefined;
  const { kind } = spelling.flag;
  if (kind === file) return [FILES];
  const earlier = kind.isList ? current.slice(assigned.length).replace(/[^,]*$/, '') : '';
  return (kind.values ?? []).map((value) => assigned + earlier + value);
}

function wordCandidates(before: readonly string[], current: string): readonly string[] {
  const [word = '', ...operands] = readArguments(before).positionals;
  const command = isCommandName(word) ? word : undefined;
  if (current.startsWith('-')) {
    return flagsOf(command ?? DEFAULT_COMMAND).map(
      ({ name, kind, help }) => `--${name}${kind.placeholder ? '=' : ''}\t${firstClause(help)}`,
    );
  }
  if (word === '') return COMMAND_NAMES.map((name) => `${name}\t${firstClause(COMMANDS[name].help)}`);
  return (command && COMMANDS[command].operands?.[operands.length]?.values) ?? [];
}

/** The first clause of a help text. */
function firstClause(help: string): string {
  return help.replace(/(?:[;:(]|\. |\.$).*$/s, '').trim();
}

/** A script that completes commands, flags, their values and file names by running the program. */
export function completionScript(shell: Shell): string {
  return `# Completion of ${PROGRAM} for ${shell}, printed by "${PROGRAM} completion ${shell}".\n${SCRIPTS[shell]}`;
}

const FUNCTION = `_${PROGRAM.replaceAll('-', '_')}`;

const SCRIPTS: Readonly<Record<Shell, string>> = {
  /** Works with the Bash 3.2 of macOS, which has no compopt, and without the package bash-completion. */
  bash: `${FUNCTION}() {
  local line=\${COMP_LINE:0:COMP_POINT} assigned='' current
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=\${words[\${#words[@]} - 1]}
  [[ $current == --*=* ]] && assigned=\${current%%=*}=
  local IFS=$'\\n'
  COMPREPLY=($("\${words[0]}" ${COMPLETE} "\${words[@]:1}" 2>/dev/null | cut -f 1))
  if [[ \${COMPREPLY[0]} == ${FILES} ]]; then
    COMPREPLY=($(compgen -P "$assigned" -f -- "\${current#"$assigned"}"))
    compopt -o filenames 2>/dev/null
  fi
  # Readline replaces the word after a word break only.
  [[ $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("\${COMPREPLY[@]#"$assigned"}")
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == --*= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F ${FUNCTION} ${PROGRAM}
`,
  zsh: `${FUNCTION}() {
  local -a lines
  lines=("\${(@f)$($words[1] ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $lines[1] == ${FILES} ]]; then
    compset -P '--*='
    _files
    return
  fi
  lines=("\${(@)lines//:/\\\\:}")
  lines=("\${(@)lines/$'\\t'/:}")
  local -a assigned=(\${(M)lines:#--[^:]##=(|:*)}) others=(\${lines:#--[^:]##=(|:*)})
  _describe word assigned -S '' -- others
}
compdef ${FUNCTION} ${PROGRAM}
`,
  fish: `function _${FUNCTION}
    set -l words (commandline -opc)
    set -l lines ($words[1] ${COMPLETE} $words[2..] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = ${FILES}
        set -l assigned (string match -r -- '^--[^=]+=' (commandline -ct))
        string replace -r -- '^' "$assigned" (__fish_complete_path (string replace -- "$assigned" '' (commandline -ct)))
    else
        printf '%s\\n' $lines
    end
end
complete -c ${PROGRAM} -f -a '(_${FUNCTION})'
`,
};
