import type { Context } from '@geoswap/wallet/context'
import { UserError } from '@geoswap/wallet/errors'
import { assertKey, CONFIG_KEYS } from '@geoswap/wallet/store/config-file'
import { columns, defineCommand } from '../command.ts'

export const config = defineCommand({
  usage: 'list | get NAME | set NAME VALUE | unset NAME',
  about: `Stores settings. A network of npm start needs none: it is found in .geoswap of this folder or a
parent, or in GEOSWAP_HOME. Settings take precedence over it; GEOSWAP_URL and GEOSWAP_API_KEY take
precedence over settings. "set apiKey" without a value prompts for it.

${columns(Object.entries(CONFIG_KEYS).map(([name, about]) => [`  ${name}`, about])).join('\n')}`,
  words: [1, 3],
  actions: ['list', 'get', 'set', 'unset'],
  options: {},
  examples: ['set url https://swap.example', 'set rpc.8453 https://node.example', 'list'],

  async run(context, { words }) {
    const [action, name, value] = words
    const count = words.length - 1
    if (action === 'list' && count === 0) list(context)
    else if (action === 'get' && name !== undefined && count === 1) get(context, name)
    else if (action === 'set' && name !== undefined && value !== undefined) set(context, name, value)
    else if (action === 'set' && name === 'apiKey') set(context, name, await askForKey(context))
    else if (action === 'unset' && name !== undefined && count === 1) unset(context, name)
    else throw new UserError('USAGE', 'geoswap config list | get NAME | set NAME VALUE | unset NAME')
    return 0
  },
})

/** Also shows the source of the values in use. API keys are masked. */
function list({ config: file, settings, terminal }: Context): void {
  const shown = Object.fromEntries(
    Object.entries(file.read()).map(([key, value]) => [key, masked(key, value)]),
  )
  const { service, local, rpcUrls } = settings
  const inUse = { url: service?.url ?? null, local: local !== undefined, rpcUrls }
  const lines = columns([
    ...Object.entries(shown),
    ['in use', `${service?.url ?? 'no service'}${local ? ', the local network' : ''}`],
    ['file', file.path],
  ])
  terminal.result(lines, { set: shown, inUse, file: file.path })
}

function get({ config: file, terminal }: Context, name: string): void {
  assertKey(name)
  const value = file.read()[name]
  if (value === undefined) throw new UserError('USAGE', `${name} is not set.`)
  terminal.result([value], { [name]: value })
}

function set({ config: file, terminal }: Context, name: string, value: string): void {
  file.set(name, value)
  terminal.result([`${name} is set`], { [name]: masked(name, value) })
}

/** Prompts, so that the key is not in the shell's history. */
function askForKey({ terminal, interrupts }: Context): Promise<string> {
  return terminal.secret('API key (not shown): ', interrupts.signal)
}

function unset({ config: file, terminal }: Context, name: string): void {
  file.unset(name)
  terminal.result([`${name} is not set`], { [name]: null })
}

function masked(name: string, value: string): string {
  return name === 'apiKey' ? `…${value.slice(-4)}` : value
}
