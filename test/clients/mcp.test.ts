import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type CallToolResult, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { createCli, PASSPHRASE } from '../cli.ts'
import { createOperator } from '../operator.ts'
import { pay } from '../ways.ts'
import { createWorld, quoteOnceSettled, toRequest } from '../world.ts'

const apiKey = await createOperator(inject('databaseUrl')).createKey()
const local = { ...inject('local'), apiKey }
const world = createWorld(local)
const { alpha, beta } = world
const cli = await createCli(local)
const opened: { close(): Promise<void> }[] = []

const ROUTE = { from: 'alpha:USDC', to: 'beta:USDC' }
const key = generatePrivateKey()
const foreign = privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  const order = { from: alpha, to: beta, sell: 'USDC', buy: 'USDC', amount: 10_000_000n }
  await quoteOnceSettled(world.api, toRequest({ address: foreign }, order))
  const file = join(mkdtempSync(join(tmpdir(), 'geoswap-key-')), 'key')
  writeFileSync(file, key)
  await cli.json('wallet', 'import', 'bot', '--file', file)
  rmSync(dirname(file), { recursive: true })
  await cli.json('faucet', 'alpha:USDC', '--amount', '100', '--wallet', 'bot')
})
afterEach(async () => {
  for (const client of opened.splice(0)) await client.close()
})
afterAll(() => cli.remove())

const LIMITS = ['--max-swap-usd', '50', '--max-day-usd', '60', '--confirm-above-usd', '15']

/** The real server as a child of the official client. */
async function startServer(args: readonly string[] = LIMITS, capabilities = {}) {
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [cli.program, 'mcp', ...args] },
    ...{ env: cli.env, stderr: 'pipe' },
  })
  let log = ''
  transport.stderr?.on('data', (text) => {
    log += text
  })
  const client = await connect(transport, capabilities)
  return { ...client, log: () => log }
}

async function connect(transport: Transport, capabilities = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  const said: string[] = []
  await client.connect(transport)
  opened.push(client)
  return {
    client,
    /** Everything received from the server. */
    said,
    async call(
      name: string,
      args: Record<string, unknown> = {},
      onprogress?: (step: { message?: string }) => void,
    ) {
      const reply = (await client.callTool({ name, arguments: args }, undefined, {
        ...(onprogress && { onprogress: onprogress as never }),
      })) as CallToolResult
      said.push(JSON.stringify(reply))
      const [text, data] = reply.content.map((part) => (part.type === 'text' ? part.text : ''))
      // biome-ignore lint/suspicious/noExplicitAny: the client checks a tool's result by its schema
      const value = reply.structuredContent as any
      return { text, value, error: reply.isError ? JSON.parse(data ?? '{}').error : undefined }
    },
  }
}

test('a model lists, quotes and swaps in whole tokens, and its spending limits the next server', async () => {
  const first = await startServer()
  const { tools } = await first.client.listTools()
  const balance = await first.call('get_balance', { wallet: 'bot', chain: 'alpha' })
  const quote = await first.call('quote_swap', { ...ROUTE, amount: '10' })
  const steps: (string | undefined)[] = []
  const swapped = await first.call('execute_swap', { ...ROUTE, amount: '10' }, ({ message }) =>
    steps.push(message),
  )
  const history = await first.call('swap_history', { wallet: 'bot', limit: 1 })
  await first.client.close()

  const next = await startServer(['--max-day-usd', '15'])
  const refused = await next.call('execute_swap', { ...ROUTE, amount: '9' })

  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ...['list_chains', 'list_tokens', 'get_balance', 'quote_swap', 'swap_status', 'swap_history'].map(
      (name) => [...[name, true]],
    ),
    ['execute_swap', false],
    ['deposit_address', false],
    ['pay_x402', false],
  ])
  expect(balance.value.balances).toContainEqual(expect.objectContaining({ symbol: 'USDC', amount: '100' }))
  expect(quote.value).toMatchObject({ pay: { amount: '10' }, allowed: true, confirmationReasons: [] })
  const { swap } = swapped.value
  expect(swapped.value).toMatchObject({ outcome: 'settled', swap: { pay: { amount: '10', symbol: 'USDC' } } })
  expect(await beta.balanceOf(swap.recipient, 'USDC')).toBe(BigInt(swap.receive.units))
  expect(steps).toContain(`submitted ${swap.swapId}`)
  expect(history.value.swaps).toEqual([swap])
  expect(refused.error).toMatchObject({
    code: 'DAY_CAP',
    message: expect.stringContaining('5.00 USD is left'),
  })
  const said = [...first.said, first.log(), ...next.said, next.log()].join()
  for (const secret of [key.slice(2), PASSPHRASE, apiKey]) expect(said).not.toContain(secret)
})

test('a model opens a swap for somebody else to pay, within its limits', async () => {
  const { call } = await startServer()
  const payer = await world.walletWith(alpha, 'USDC', 10_000_000n)

  const opened = await call('deposit_address', { ...ROUTE, amount: '10' })
  await pay(alpha, payer.address, { to: opened.value.depositAddress, symbol: 'USDC', amount: 10_000_000n })
  const swap = await call('swap_status', { swapId: opened.value.swapId, waitSeconds: 30 })
  const tooMuch = await call('deposit_address', { ...ROUTE, amount: '51' })

  expect(opened.value.send).toMatchObject({ amount: '10', symbol: 'USDC', chain: 'alpha' })
  expect(swap.value).toMatchObject({ status: 'settled', depositAddress: opened.value.depositAddress })
  expect(tooMuch.error).toMatchObject({ code: 'SWAP_CAP' })
})

test('a value above the cap, a foreign recipient and a similar symbol are refused; CAIP-19 is not', async () => {
  const { call } = await startServer()

  const named = { from: 'alpha:usdc', to: `eip155:31338/erc20:${beta.token('USDC')}` }
  const [tooMuch, stranger, misspelt, inLowerCase] = await Promise.all([
    call('execute_swap', { ...ROUTE, amount: '51' }),
    call('execute_swap', { ...ROUTE, amount: '1', recipient: foreign }),
    call('quote_swap', { ...ROUTE, from: 'alpha:USD', amount: '1' }),
    call('quote_swap', { ...named, amount: '1' }),
  ])

  expect(tooMuch.error).toMatchObject({ code: 'SWAP_CAP', advice: expect.stringContaining('--max-swap-usd') })
  expect(stranger.error).toMatchObject({ code: 'RECIPIENT_NOT_ALLOWED' })
  expect(misspelt.error).toMatchObject({
    ...{ code: 'UNKNOWN_TOKEN', advice: expect.stringContaining(`USDC ${alpha.token('USDC')}`) },
  })
  expect(inLowerCase.value).toMatchObject({ pay: { symbol: 'USDC' }, receive: { symbol: 'USDC' } })
})

test('above the limit a token confirms one order, which is in flight until its end', async () => {
  const { call } = await startServer([...LIMITS, '--wait-seconds', '0'])
  const order = { ...ROUTE, amount: '16' }
  await beta.halt()

  const asked = await call('execute_swap', order)
  const { confirmationToken: first } = asked.value.confirmation
  const another = await call('execute_swap', { ...order, amount: '17', confirmationToken: first })
  const { confirmationToken } = (await call('execute_swap', order)).value.confirmation
  const pending = await call('execute_swap', { ...order, confirmationToken })
  const second = await call('execute_swap', order)
  await beta.resume()
  const { swapId } = pending.value.swap
  const ended = await call('swap_status', { swapId, waitSeconds: 30 })

  expect(asked.value).toMatchObject({ outcome: 'confirmation_required', quote: { pay: { amount: '16' } } })
  expect(another.error.code).toBe('CONFIRMATION_INVALID')
  expect(pending.value.outcome).toBe('pending')
  expect(second.error).toMatchObject({ code: 'SWAP_IN_FLIGHT', swapId })
  expect(ended.value).toMatchObject({ swapId, status: 'settled' })
})

test('over HTTP only the token opens a session, and a client that can ask its user is asked', async () => {
  const token = 'a-token-of-the-test'
  const args = ['mcp', '--http', '0', ...LIMITS, '--wait-seconds', '0']
  const server = cli.start(args, { GEOSWAP_MCP_TOKEN: token })
  const url = new URL(await server.says(/ready (\S+)/))
  const headers = { authorization: `Bearer ${token}` }
  const strangers = await Promise.all([
    fetch(url, { method: 'POST' }),
    fetch(url, { method: 'POST', headers: { ...headers, origin: 'http://attacker.example' } }),
  ])

  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } })
  const { client, call } = await connect(transport as Transport, { elicitation: { form: {} } })
  const questions: string[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    questions.push(params.message)
    return { action: 'accept', content: { confirm: questions.length > 1 } }
  })
  const declined = await call('execute_swap', { ...ROUTE, amount: '18' })
  const accepted = await call('execute_swap', { ...ROUTE, amount: '18' })
  server.child.kill('SIGTERM')
  const { code } = await server.ended

  expect(strangers.map(({ status }) => status)).toEqual([401, 403])
  expect(declined.error.code).toBe('DECLINED')
  expect(accepted.value.swap).toMatchObject({ pay: { amount: '18' } })
  expect(questions).toEqual(Array(2).fill(expect.stringContaining('18 USDC on alpha')))
  expect(code).toBe(0)
})
