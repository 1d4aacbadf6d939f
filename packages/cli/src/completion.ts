import { type AnyCommand, defineCommand, type Entry, optionsOf } from './command.ts'

/** A command with the words that can follow it. */
type Known = { name: string; about: string; actions: readonly string[]; options: readonly string[] }

const shells: Readonly<Record<string, (commands: readonly Known[]) => string[]>> = {
  bash: forBash,
  zsh: forZsh,
  fish: forFish,
}

/** The command that prints the completion of the given commands. */
export function completionOf(entries: Readonly<Record<string, Entry>>): AnyCommand {
  return defineCommand({
    usage: 'bash | zsh | fish',
    about: `Prints a script that completes commands and options. Load it when your shell starts:
  bash  echo 'source <(geoswap completion bash)' >> ~/.bashrc
  zsh   echo 'source <(geoswap completion zsh)' >> ~/.zshrc, after compinit
  fish  geoswap completion fish > ~/.config/fish/completions/geoswap.fish`,
    words: [1, 1],
    actions: Object.keys(shells),
    options: {},
    examples: ['bash'],

    async run({ terminal }, { words: [shell = ''] }) {
      const lines = shells[shell]?.(await readKnown(entries)) ?? []
      terminal.result(lines, { script: lines.join('\n') })
      return 0
    },
  })
}

async function readKnown(entries: Readonly<Record<string, Entry>>): Promise<Known[]> {
  const known = Object.entries(entries).map(async ([name, { about, load }]) => {
    const command = await load()
    const options = optionsOf(command).map((option) => `--${option}`)
    return { name, about, actions: command.actions ?? [], options }
  })
  const found = await Promise.all(known)
  const names = found.map(({ name }) => name)
  return [...found, { name: 'help', about: 'explain a command', actions: names, options: [] }]
}

const wordsOf = ({ actions, options }: Known) => [...actions, ...options].join(' ')

function forBash(commands: readonly Known[]): string[] {
  return [
    '_geoswap() {',
    '  local words=',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words='${commands.map(({ name }) => name).join(' ')} --help --version'`,
    `  else case "\${COMP_WORDS[1]}" in`,
    ...commands.map((command) => `    ${command.name}) words='${wordsOf(command)}' ;;`),
    '  esac; fi',
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    '}',
    'complete -o default -F _geoswap geoswap',
  ]
}

function forZsh(commands: readonly Known[]): string[] {
  return [
    '#compdef geoswap',
    '_geoswap() {',
    '  local -a known',
    '  if (( CURRENT == 2 )); then',
    `    known=(${commands.map(({ name, about }) => `'${name}:${about}'`).join(' ')})`,
    '    _describe command known',
    '    return',
    '  fi',
    '  case $words[2] in',
    ...commands.map((command) => `    ${command.name}) compadd -- ${wordsOf(command)} ;;`),
    '  esac',
    '  _files',
    '}',
    'compdef _geoswap geoswap',
  ]
}

function forFish(commands: readonly Known[]): string[] {
  return commands.flatMap(({ name, about, actions, options }) => {
    const after = `complete -c geoswap -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c geoswap -f -n __fish_use_subcommand -a ${name} -d '${about}'`,
      ...(actions.length > 0 ? [`${after} -f -a '${actions.join(' ')}'`] : []),
      ...options.map((option) => `${after} -l ${option.slice(2)}`),
    ]
  })
}
