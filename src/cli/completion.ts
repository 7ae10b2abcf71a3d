import {
  COMMAND_NAMES,
  COMMANDS,
  type CommandName,
  DEFAULT_COMMAND,
  type Operand,
  PROGRAM,
  type Shell,
} from './commands.ts';
import { type Flag, file } from './flag-kind.ts';
import { FLAGS, flagsOf } from './flags.ts';

/** A script that completes commands, flags, their values and file names. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell]();
}

const SCRIPTS: Readonly<Record<Shell, () => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

const FUNCTION = `_${PROGRAM.replaceAll('-', '_')}`;

/** Flags whose next word is their value. */
const valueFlags = () => FLAGS.filter(({ kind }) => kind.placeholder !== undefined).map(spelled);

/** Works with the Bash 3.2 of macOS, which has no compopt, and without the package bash-completion. */
function bashScript(): string {
  return `# Bash completion of ${PROGRAM}, printed by "${PROGRAM} completion bash".
${FUNCTION}() {
  local line=\${COMP_LINE:0:COMP_POINT} command='' operands=0 flag='' prefix='' candidates='' is_list='' current word i
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=\${words[\${#words[@]} - 1]}
  for ((i = 1; i < \${#words[@]} - 1; i++)); do
    word=\${words[i]}
    if [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      case $word in
        ${valueFlags().join(' | ')}) flag=$word ;;
      esac
    elif [[ -z $command ]]; then
      command=$word
    else
      operands=$((operands + 1))
    fi
  done
  if [[ -z $flag && $current == --*=* ]]; then
    flag=\${current%%=*}
    current=\${current#*=}
    # Readline replaces the word after a word break only.
    [[ $COMP_WORDBREAKS == *=* ]] || prefix=$flag=
  fi
  COMPREPLY=()
  if [[ -n $flag ]]; then
    case $flag in
${FLAGS.filter(({ kind }) => kind.values !== undefined)
  .map(
    ({ name, kind }) => `      --${name}) candidates='${kind.values?.join(' ')}'${kind.isList ? ' is_list=1' : ''} ;;`,
  )
  .join('\n')}
      ${FLAGS.filter(({ kind }) => kind === file)
        .map(spelled)
        .join(' | ')})
        local IFS=$'\\n'
        COMPREPLY=($(compgen -P "$prefix" -f -- "$current"))
        compopt -o filenames 2>/dev/null
        return
        ;;
    esac
    if [[ -n $is_list ]]; then
      prefix=$prefix\${current%"\${current##*,}"}
      current=\${current##*,}
      compopt -o nospace 2>/dev/null
    fi
  elif [[ $current == -* ]]; then
    case \${command:-${DEFAULT_COMMAND}} in
${COMMAND_NAMES.map((name) => `      ${name}) candidates='${flagsOf(name).map(completedFlag).join(' ')}' ;;`).join('\n')}
    esac
  elif [[ -z $command ]]; then
    candidates='${COMMAND_NAMES.join(' ')}'
  else
    case $command:$operands in
${operandsWithValues()
  .map(({ name, at, values }) => `      ${name}:${at}) candidates='${values.join(' ')}' ;;`)
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -P "$prefix" -W "$candidates" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == --*= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F ${FUNCTION} ${PROGRAM}
`;
}

function zshScript(): string {
  const commands = COMMAND_NAMES.map(
    (name) => `${name}\\:${zshQuoted(summary(COMMANDS[name].help)).replaceAll(' ', '\\ ')}`,
  ).join(' ');
  return `#compdef ${PROGRAM}
# Zsh completion of ${PROGRAM}, printed by "${PROGRAM} completion zsh".
${FUNCTION}() {
  local command=${DEFAULT_COMMAND} word
  local -i is_value=0
  local -a specs
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if ((is_value)); then
      is_value=0
    else
      case $word in
        (${valueFlags().join('|')}) is_value=1 ;;
        (-*) ;;
        (*) command=$word; break ;;
      esac
    fi
  done
  case $command in
${COMMAND_NAMES.map((name) => `    (${name}) specs=(\n${zshSpecs(name)}\n    ) ;;`).join('\n')}
  esac
  _arguments -S : $specs '1:command:((${commands}))'
}
if [[ $funcstack[1] == _${PROGRAM} ]]; then
  ${FUNCTION} "$@"
else
  compdef ${FUNCTION} ${PROGRAM}
fi
`;
}

function zshSpecs(command: CommandName): string {
  const { operands = [] } = COMMANDS[command];
  return [
    ...flagsOf(command).map(zshFlag),
    ...operands.map(
      ({ name, values }, at) => `'${at + 2}:${name}:${values === undefined ? ' ' : `(${values.join(' ')})`}'`,
    ),
  ]
    .map((spec) => `      ${spec}`)
    .join('\n');
}

function zshFlag(flag: Flag): string {
  const { name, kind, repeatable, help } = flag;
  const description = `[${zshQuoted(summary(help)).replace(/[[\]]/g, '\\$&')}]`;
  if (kind.placeholder === undefined) return `'--${name}${description}'`;
  return `'${repeatable ? '*' : ''}--${name}=${description}:value:${zshAction(flag)}'`;
}

function zshAction({ kind }: Flag): string {
  if (kind === file) return '_files';
  if (kind.values === undefined) return ' ';
  return kind.isList ? `_sequence compadd - ${kind.values.join(' ')}` : `(${kind.values.join(' ')})`;
}

/** Inside single quotes, where a colon separates parts. */
function zshQuoted(text: string): string {
  return text.replaceAll(/[:\\]/g, '\\$&').replaceAll("'", "'\\''");
}

function fishScript(): string {
  return `# Fish completion of ${PROGRAM}, printed by "${PROGRAM} completion fish".
function _${FUNCTION}_words -d 'The command and its operands before the cursor'
    set -l is_value 0
    for word in (commandline -opc)[2..]
        if test $is_value = 1
            set is_value 0
        else if contains -- $word ${valueFlags().join(' ')}
            set is_value 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
function _${FUNCTION}_is -d 'Whether one of these commands is being completed'
    set -l words (_${FUNCTION}_words) ${DEFAULT_COMMAND}
    contains -- $words[1] $argv
end
function _${FUNCTION}_operand -d 'Whether this operand of a command is being completed'
    set -l words (_${FUNCTION}_words)
    test "$words[1]" = $argv[1] -a (count $words) = (math 1 + $argv[2])
end
complete -c ${PROGRAM} -f
${COMMAND_NAMES.map((name) => `complete -c ${PROGRAM} -n 'test -z (_${FUNCTION}_words | string collect)' -a ${name} -d ${fishQuoted(summary(COMMANDS[name].help))}`).join('\n')}
${operandsWithValues()
  .map(
    ({ name, at, values }) => `complete -c ${PROGRAM} -n '_${FUNCTION}_operand ${name} ${at}' -a '${values.join(' ')}'`,
  )
  .join('\n')}
${FLAGS.map(fishFlag).join('\n')}
`;
}

function fishFlag(flag: Flag): string {
  const { name, short, only, help } = flag;
  const condition = only === undefined ? '' : ` -n '_${FUNCTION}_is ${only.join(' ')}'`;
  return `complete -c ${PROGRAM}${condition} -l ${name}${short === undefined ? '' : ` -s ${short}`}${fishValue(flag)} -d ${fishQuoted(summary(help))}`;
}

function fishValue({ kind }: Flag): string {
  if (kind.placeholder === undefined) return '';
  if (kind === file) return ' -r -F';
  if (kind.values === undefined) return ' -x';
  return kind.isList ? ` -x -a '(__fish_append , ${kind.values.join(' ')})'` : ` -x -a '${kind.values.join(' ')}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

function spelled({ name }: Flag): string {
  return `--${name}`;
}

function completedFlag(flag: Flag): string {
  return flag.kind.placeholder === undefined ? spelled(flag) : `${spelled(flag)}=`;
}

/** The operands that are one of a set of words, with their positions. */
function operandsWithValues() {
  return COMMAND_NAMES.flatMap((name) =>
    (COMMANDS[name].operands ?? []).flatMap(({ values }: Operand, at) =>
      values === undefined ? [] : [{ name, at, values }],
    ),
  );
}

/** The first clause of a help text. */
function summary(help: string): string {
  return help.replace(/(?:[;:(]|\. |\.$).*$/s, '').trim();
}
