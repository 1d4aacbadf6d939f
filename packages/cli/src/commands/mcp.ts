import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { defineCommand } from '../command.ts'
import { type Context, connect } from '../context.ts'
import { CliError } from '../errors.ts'
import { createConfirmations } from '../mcp/confirmations.ts'
import type { Desk } from '../mcp/desk.ts'
import { serveHttp } from '../mcp/http.ts'
import { type GivenRules, listOf, mergeGiven, toRules } from '../mcp/rules.ts'
import { createMcpServer } from '../mcp/server.ts'
import { openSpending } from '../mcp/spending.ts'
import { chooseWallets, ownAddresses, unlockAll } from '../mcp/unlock.ts'
import { formatUsd } from '../mcp/usd.ts'

const DEFAULT_PORT = 8321
const MIN_TOKEN = 16

export const mcp = defineCommand({
  usage: '[--http [PORT]] [options]',
  about: `Serves quotes, swaps and balances to language models by the Model Context Protocol: over stdin and
stdout, or with --http on this machine at http://127.0.0.1:${DEFAULT_PORT}/mcp for whoever has the token.
The wallets are unlocked once, at the start, with GEOSWAP_PASSPHRASE or by asking at the terminal.
Keys stay in this process.

Each of the limits can also be in the environment (--max-swap-usd: GEOSWAP_MCP_MAX_SWAP_USD) or in the
configuration (geoswap config set mcp.maxSwapUsd 50); flags come first. GEOSWAP_MCP_TOKEN is the
token of --http; without it there is a new one at each start.`,
  words: [0, 1],
  options: {
    http: {
      type: 'boolean',
      about: `streamable HTTP, on PORT or ${DEFAULT_PORT}, instead of stdin and stdout`,
    },
    'read-only': { type: 'boolean', about: 'no execute_swap: no wallet is unlocked' },
    wallets: {
      type: 'string',
      value: 'NAMES',
      about: 'wallets that may pay, with commas; default: the usual ones',
    },
    recipients: {
      type: 'string',
      value: 'LIST',
      about: 'who may be paid beside own wallets: addresses, with commas',
    },
    'max-swap-usd': { type: 'string', value: 'N', about: 'the most that one swap may be worth; default 100' },
    'max-day-usd': { type: 'string', value: 'N', about: 'the most that 24 hours may be worth; default 1000' },
    'confirm-above-usd': {
      type: 'string',
      value: 'N',
      about: 'what is worth more has to be confirmed; default 25',
    },
    'allow-unknown-value': {
      type: 'boolean',
      about: 'swap also what has no USD price; always to be confirmed',
    },
    'wait-seconds': {
      type: 'string',
      value: 'N',
      about: 'how long execute_swap waits for the end; default 45',
    },
  },
  examples: ['', '--max-swap-usd 50 --confirm-above-usd 0', '--http 8321 --wallets bot'],

  async run(context, { values, words: [port] }) {
    if (port !== undefined && !values.http) throw new CliError('USAGE', 'A port is for --http.')
    const desk = await openDesk(context, {
      isReadOnly: values['read-only'] ?? false,
      flags: {
        ...{ wallets: values.wallets, recipients: values.recipients, waitSeconds: values['wait-seconds'] },
        ...{ maxSwapUsd: values['max-swap-usd'], maxDayUsd: values['max-day-usd'] },
        confirmAboveUsd: values['confirm-above-usd'],
        allowUnknownValue: values['allow-unknown-value'] ? 'true' : undefined,
      },
    })
    const close = values.http ? await startHttp(desk, port) : await startStdio(desk)
    await close()
    await submissionsOf(desk)
    return 0
  },
})

type Asked = { isReadOnly: boolean; flags: GivenRules }

async function openDesk(context: Context, { isReadOnly, flags }: Asked): Promise<Desk> {
  const { settings, wallets: files, journal, terminal, home } = context
  connect(context)
  const given = mergeGiven(flags, context)
  const rules = toRules(given, await ownAddresses(context), (name) => files.find(name)?.address)
  const wallets = await chooseWallets(context, listOf(given.wallets))
  if (wallets.length === 0 && !isReadOnly) {
    const advice = 'geoswap wallet create NAME makes one; --read-only serves without.'
    throw new CliError('NO_WALLET', 'There is no wallet to swap with, or which one is not said.', { advice })
  }
  const unlocked = isReadOnly ? undefined : await unlockAll(context, wallets)
  const log = (line: string) => terminal.note(`geoswap mcp: ${line}`)
  const limits = `${formatUsd(rules.maxSwapCents)} a swap, ${formatUsd(rules.maxDayCents)} in 24 hours`
  const names = wallets.map(({ name, address }) => `${name} ${address}`).join(', ')
  log(
    isReadOnly
      ? 'reads only'
      : `${names}: ${limits}, to be confirmed above ${formatUsd(rules.confirmAboveCents)}`,
  )
  return {
    ...{
      context: { ...context, settings, unlocked, passphrase: undefined },
      rules,
      wallets,
      isReadOnly,
      log,
    },
    spending: openSpending(join(home, 'spending'), journal),
    confirmations: createConfirmations(),
    submitting: new Set(),
  }
}

type Close = () => Promise<void>

/** Until the client closes our stdin, or somebody interrupts. */
async function startStdio(desk: Desk): Promise<Close> {
  const server = createMcpServer(desk)
  const left = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve))
  server.server.onerror = (error) => desk.log(error.message)
  await server.connect(new StdioServerTransport())
  await Promise.race([left, interrupted(desk)])
  return () => server.close()
}

async function startHttp(desk: Desk, text = `${DEFAULT_PORT}`): Promise<Close> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 65_536
  if (port > 65_535) throw new CliError('USAGE', `${text} is not a port.`)
  const { token: given } = desk.context.mcp
  if (given !== undefined && given.length < MIN_TOKEN)
    throw new CliError('USAGE', `GEOSWAP_MCP_TOKEN has to have ${MIN_TOKEN} characters at least.`)
  const token = given ?? randomBytes(24).toString('base64url')
  const http = await serveHttp({ port, token, createSession: () => createMcpServer(desk), log: desk.log })
  const { terminal } = desk.context
  if (terminal.json) terminal.result([], { url: http.url, ...(given === undefined && { token }) })
  desk.log(`ready ${http.url}`)
  if (given === undefined) desk.log(`token ${token}`)
  await interrupted(desk)
  return http.close
}

function interrupted({ context }: Desk): Promise<void> {
  const { signal } = context.interrupts
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

// Less than an interrupted command gets; a submission is answered within milliseconds.
const GRACE_MS = 800

/** What is being submitted is in the journal and can be gone on with; better still is its answer. */
async function submissionsOf({ submitting }: Desk): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS)
  })
  await Promise.race([Promise.allSettled(submitting), late]).finally(() => clearTimeout(timer))
}
