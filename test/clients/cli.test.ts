import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { createCli } from '../cli.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { pay } from '../ways.ts'
import { createWorld, quoteOnceSettled, toRequest } from '../world.ts'

const apiKey = await createOperator(inject('databaseUrl')).createKey()
const local = { ...inject('local'), apiKey }
const world = createWorld(local)
const { alpha, beta } = world
const cli = await createCli(local)
const NOWHERE = ['--url', 'http://127.0.0.1:1']
// Bytecode of a contract that refuses every payment: PUSH1 0 PUSH1 0 REVERT.
const REFUSES = '0x60006000fd'

async function errorOf(args: string[], env = {}) {
  const { code, stdout } = await cli.start([...args, '--json'], env).ended
  return { exit: code, ...JSON.parse(stdout).error }
}

// Retried for ten seconds, while the other tests run.
const unanswered = errorOf(['chains', ...NOWHERE], { GEOSWAP_API_KEY: 'any' })

beforeAll(async () => {
  const anyone = { address: privateKeyToAddress(generatePrivateKey()) }
  const order = { from: alpha, to: beta, sell: 'USDC', buy: 'USDC', amount: 10_000_000n }
  await quoteOnceSettled(world.api, toRequest(anyone, order))
})
afterEach(() => beta.resume())
afterAll(() => cli.remove())

test('the tour shows a lying service refused, a swap, and an input that comes back', async () => {
  const tour = cli.start(['tour'])

  await tour.says(/(then it comes back)/)
  await alpha.advance(300)
  const { code, stderr } = await tour.ended

  expect(code).toBe(0)
  expect(stderr).toMatch(/delivery.recipient is 0x0+dead, expected 0x0+[1-9a-f]/)
  expect(stderr).toMatch(/status +settled/)
  expect(stderr).toMatch(/returned +0.005 ETH on alpha in 0x/)
})

test('a stored wallet pays a recipient on Solana, both named by CAIP ids, and its journal has the result', async () => {
  const solana = await createSolanaWorld(local)
  const { address: recipient } = await generateKeyPairSigner()
  const { reply: wallet } = await cli.json('wallet', 'create', 'bot')
  await cli.json('faucet', 'alpha:USDC', '--amount', '12.5', '--wallet', 'bot')

  const [paid, to] = [`eip155:31337/erc20:${alpha.token('USDC')}`, `solana:31339:${recipient}`]
  const route = [paid, 'solana:usdc', '--amount', 'max', '--to', to, '--wallet', 'bot']
  const { code, reply } = await cli.json('swap', ...route, '--accept-impact')

  expect(code).toBe(0)
  expect(reply).toMatchObject({
    status: 'settled',
    wallet: { name: 'bot', address: wallet.address },
    amounts: { input: '12500000' },
  })
  expect(await solana.balanceOf(recipient, solana.token('USDC'))).toBe(BigInt(reply.amounts.delivered))
  const refund = await cli.json('refund', reply.swapId, ...NOWHERE)
  expect([refund.code, refund.reply.error.code]).toEqual([
    1,
    expect.stringMatching(/NOT_REFUNDABLE|TOO_EARLY/),
  ])
})

test('a swap whose process was killed is in flight for the next run, and its id continues it', async () => {
  const order = ['alpha:USDC', 'beta:WETH', '--amount', '20', '--wallet', 'local']
  const killed = cli.start(['swap', ...order])
  const swapId = await killed.says(/submitted (swp_\w+)/)
  await beta.halt()
  killed.child.kill('SIGKILL')
  await killed.ended

  const again = await cli.json('swap', ...order)
  await beta.resume()
  const followed = await cli.json('status', swapId, '--wait')

  expect([again.code, again.reply.error]).toMatchObject([1, { code: 'SWAP_IN_FLIGHT', swapId }])
  expect([followed.code, followed.reply]).toMatchObject([0, { swapId, status: 'settled' }])
})

test('Ctrl-C names the pending swap and how to follow it, and an undeliverable swap exits with 2', async () => {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const order = ['alpha:USDC', 'beta:ETH', '--amount', '20', '--wallet', 'local', '--to', recipient]
  const left = cli.start(['swap', ...order])
  const swapId = await left.says(/submitted (swp_\w+)/)
  await beta.client.setCode({ address: recipient, bytecode: REFUSES })
  left.child.kill('SIGINT')
  const interrupted = await left.ended

  const followed = await cli.run('status', swapId, '--wait')

  expect(interrupted.code).toBe(130)
  expect(interrupted.stderr).toContain(`geoswap status ${swapId} --wait`)
  expect(followed.code).toBe(2)
  expect(followed.stdout).toContain('RECIPIENT_INVALID')
})

test('errors are one object on stdout with advice, and exit with 1', async () => {
  const order = ['alpha:USDC', 'beta:USDC', '--wallet', 'local', '--amount']

  const [unreachable, wrongKey, unknown, tooFine] = await Promise.all([
    unanswered,
    errorOf(['chains'], { GEOSWAP_API_KEY: 'gsk_unknown' }),
    errorOf(['swap', 'alpha:USDX', 'beta:USDC', '--amount', '1']),
    errorOf(['swap', ...order, '1.1234567']),
  ])

  expect(unreachable).toMatchObject({
    exit: 1,
    code: 'CONNECTION_FAILED',
    advice: expect.stringContaining('127.0.0.1:1'),
  })
  expect(wrongKey).toMatchObject({
    exit: 1,
    code: 'INVALID_API_KEY',
    advice: expect.stringContaining('config set apiKey'),
  })
  expect(unknown).toMatchObject({
    exit: 1,
    code: 'UNKNOWN_TOKEN',
    advice: expect.stringContaining(alpha.token('USDC')),
  })
  expect(tooFine).toMatchObject({ exit: 1, code: 'BAD_AMOUNT', advice: 'Use 1.123456, for example.' })
})

test('--method chooses how the input comes in, and an unknown one is refused', async () => {
  const order = ['alpha:USDC', 'beta:USDC', '--wallet', 'local', '--amount']

  const permitted = await cli.json('swap', ...order, '3', '--method', 'permit')
  const authorized = await cli.json('swap', ...order, '4', '--method', 'authorization')

  await cli.json('faucet', 'alpha:ETH', '--amount', '1', '--wallet', 'local')
  const paying = ['--wallet', 'local', '--method', 'transfer']
  const sent = await cli.json('swap', 'alpha:ETH', 'beta:WETH', '--amount', '0.01', ...paying)

  expect([permitted.reply, authorized.reply, sent.reply]).toMatchObject([
    { status: 'settled', method: 'permit' },
    { status: 'settled', method: 'authorization' },
    { status: 'settled', method: 'transfer' },
  ])
  expect(await errorOf(['swap', ...order, '1', '--method', 'cash'])).toMatchObject({ exit: 1, code: 'USAGE' })
})

test('deposit-address opens a swap for anybody to pay; recover sends a deposit back with a node alone', async () => {
  const owner = privateKeyToAddress(generatePrivateKey())
  const payer = await world.walletWith(alpha, 'USDC', 100_000_000n)
  const send = (to: string, amount: bigint) => pay(alpha, payer.address, { to, symbol: 'USDC', amount })
  const route = ['alpha:USDC', 'beta:USDC', '--amount', '5', '--wallet', owner]

  const { reply: paid } = await cli.json('deposit-address', ...route)
  await send(paid.depositAddress, 5_000_000n)
  const followed = await cli.json('status', paid.swapId, '--wait')
  const { reply: late } = await cli.json('deposit-address', ...route)
  await send(late.depositAddress, 1n)
  await alpha.mine()
  const early = await cli.json('recover', late.swapId, ...NOWHERE)
  const { timestamp } = await alpha.client.getBlock()
  await alpha.advance(Number(BigInt(late.operation.message.opDeadline) - timestamp) + 1)
  await alpha.mine()
  const gasKey = generatePrivateKey()
  await alpha.client.setBalance({ address: privateKeyToAddress(gasKey), value: 10n ** 18n })
  const recovered = await cli.json('recover', late.swapId, '--gas-key', gasKey, ...NOWHERE)

  expect([followed.code, followed.reply]).toMatchObject([0, { status: 'settled', method: 'deposit' }])
  expect([early.code, early.reply.error]).toMatchObject([1, { code: 'TOO_EARLY' }])
  expect([recovered.code, recovered.reply]).toMatchObject([
    0,
    { recovered: [{ amount: '1' }], wallet: owner },
  ])
  expect(await alpha.balanceOf(owner, 'USDC')).toBe(1n)
})

test('a service that alters the operation gets no signature', async () => {
  const attacker = await startAttacker()
  const order = ['alpha:USDC', 'beta:USDC', '--amount', '1', '--wallet', 'bot']
  await cli.json('faucet', 'alpha:USDC', '--amount', '1', '--wallet', 'bot')

  const there = { GEOSWAP_URL: attacker.url, GEOSWAP_API_KEY: apiKey }
  const swapThere = (...args: string[]) => errorOf(['swap', ...order, ...args], there)
  const alone = await swapThere()
  const evm = local.chains.filter(({ family }) => family === 'evm')
  const nodes = evm.flatMap(({ name, rpcUrl }) => ['--rpc', name === 'alpha' ? rpcUrl : `${name}=${rpcUrl}`])
  const withOwnNodes = await swapThere(...nodes)
  for (const { chainId, rpcUrl } of evm) await cli.json('config', 'set', `rpc.${chainId}`, rpcUrl)
  const withNodes = await swapThere()
  await attacker.stop()

  expect(alone).toMatchObject({
    exit: 1,
    code: 'NO_NODE',
    advice: expect.stringContaining('config set rpc.'),
  })
  expect(withOwnNodes).toMatchObject({ exit: 1, code: 'TAMPERED_OPERATION' })
  expect(withNodes).toMatchObject({ exit: 1, code: 'TAMPERED_OPERATION' })
  expect(attacker.paths).toContain('/swap/build-geo-op')
  expect(attacker.paths).not.toContain('/swap/submit')
})

/** Forwards everything, and puts its own recipient into the operation. */
async function startAttacker() {
  const paths: string[] = []
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request
    const body = await text(request)
    paths.push(url)
    const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
    const reply = await fetch(`${local.apiUrl}${url}`, { method, headers, ...(body && { body }) })
    const honest = await reply.text()
    const recipient = `"recipient":"0x${'0'.repeat(24)}${'f'.repeat(40)}"`
    const changed = url === '/swap/build-geo-op' ? honest.replace(/"recipient":"[^"]+"/, recipient) : honest
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(changed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    paths,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
