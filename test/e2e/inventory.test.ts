import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPairSigner } from '@solana/kit'
import { type Address, getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { describe, expect, inject, test } from 'vitest'
import { runCommand } from '../../packages/service/src/command.ts'
import { doctor } from '../../packages/service/src/operate/doctor/doctor.ts'
import { fees } from '../../packages/service/src/operate/fees.ts'
import { inventory } from '../../packages/service/src/operate/inventory/inventory.ts'
import { treasury as treasuryCommand } from '../../packages/service/src/operate/treasury/treasury.ts'
import { createCheckedClient, refusalOf } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, submitSwap, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const solana = await createSolanaWorld(local)
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })

const USDC = 1_000_000n

const command = (...args: string[]) => runOf(inventory, args)

type Command = typeof inventory

async function runOf(run: Command, args: string[], more: Record<string, string> = {}) {
  const said: string[] = []
  const output = { out: (text: string) => said.push(text), hint: (text: string) => said.push(text) }
  const env = { GEOSWAP_HOME: inject('home'), ...more }
  const code = await runCommand(output, () => run(args, env, output))
  return { code, text: said.join('\n') }
}

type Stock = Record<'chain' | 'symbol' | 'free' | 'reserved' | 'mostPerSwap', string>

async function stockOf(chain: string, symbol: string): Promise<Stock> {
  const { tokens } = JSON.parse((await command('status', '--json')).text)
  return tokens.find((stock: Stock) => stock.chain === chain && stock.symbol === symbol)
}

const onceIn = (text: string) => /--once (\w+) --yes/.exec(text)?.[1] ?? ''

const treasury: Address = JSON.parse(readFileSync(join(inject('home'), 'service.json'), 'utf8')).treasury

test('a withdrawal is shown first, pays once however often it is run, and spares the reserved inventory', async () => {
  const to = privateKeyToAddress(generatePrivateKey())
  const before = await stockOf('alpha', 'USDC')
  const withdraw = ['withdraw', '--chain', 'alpha', '--token', 'USDC', '--to', to, '--amount']
  await operator.query('update inventory set reserved = reserved + 7 where chain_id = $1 and token = $2', [
    ...[alpha.chainId, getAddress(alpha.token('USDC'))],
  ])

  // Claims of earlier swaps may still arrive: this much above the free amount is still too much.
  const tooMuch = await command(...withdraw, String(BigInt(before.free) / USDC + 1_000n))
  const shown = await command(...withdraw, '12.5')
  expect(await alpha.balanceOf(to, 'USDC')).toBe(0n)
  const sent = ['12.5', '--once', onceIn(shown.text), '--yes']
  const results = [await command(...withdraw, ...sent), await command(...withdraw, ...sent)]
  await operator.query('update inventory set reserved = reserved - 7 where chain_id = $1 and token = $2', [
    ...[alpha.chainId, getAddress(alpha.token('USDC'))],
  ])

  expect(tooMuch).toMatchObject({ code: 2, text: expect.stringMatching(/^Only \d+(\.\d+)? USDC is free/) })
  expect(results).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(await alpha.balanceOf(to, 'USDC')).toBe(12_500_000n)
  expect((await stockOf('alpha', 'USDC')).reserved).toBe(before.reserved)
})

test('a fee that an account added is owed once its input is claimed, and paid out once', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 10n * USDC)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId } = await submitSwap({ api }, wallet, order)
  // No account of the local network may add a fee: its configuration names none.
  const [row] = await operator.query<{ account: string }>(
    `update ops o set integrator_fee = 50000 from swaps s
     where s.id = $1 and o.id = s.op_id returning s.account_id as account`,
    [swapId],
  )
  const { account } = row ?? expect.unreachable('The swap is stored')
  const status = () => runOf(fees, ['status', '--json'])
  const owed = async () =>
    JSON.parse((await status()).text).find((each: { accountId: string }) => each.accountId === account)
      ?.amount
  await until(async () => (await owed()) === '50000', 60_000)

  const to = privateKeyToAddress(generatePrivateKey())
  const payout = [
    'payout',
    '--account',
    account,
    '--chain',
    'alpha',
    '--token',
    'USDC',
    '--to',
    to,
    '--amount',
  ]
  const tooMuch = await runOf(fees, [...payout, '0.050001'])
  const shown = await runOf(fees, [...payout, '0.05'])
  const sent = ['0.05', '--once', onceIn(shown.text), '--yes']
  const results = [await runOf(fees, [...payout, ...sent]), await runOf(fees, [...payout, ...sent])]

  expect(tooMuch).toMatchObject({ code: 2, text: expect.stringMatching(/^Only 0\.05 USDC is owed to/) })
  expect(results).toMatchObject([{ code: 0 }, { code: 0 }])
  expect(await alpha.balanceOf(to, 'USDC')).toBe(50_000n)
  expect(await owed()).toBe('0')
  const booked = await until(async () => {
    const query = "select debit from ledger_movements where kind = 'withdrawn' and amount = 50000"
    const rows = await operator.query(query)
    return rows.length > 0 && rows
  })
  expect(booked).toEqual([{ debit: 'integrators' }])
})

test('a withdrawal to the treasury can be deposited again, and no more than that', async () => {
  const held = () => beta.balanceOf(treasury, 'USDC')
  const move = async (kind: string, ...args: string[]) => {
    const order = [kind, '--chain', 'beta', '--token', 'USDC', ...args]
    return command(...order, '--once', onceIn((await command(...order)).text), '--yes')
  }
  const before = await held()

  const withdrawn = await move('withdraw', '--amount', '3', '--to', treasury)
  const tooMuch = await command('deposit', '--chain', 'beta', '--token', 'USDC', '--amount', '4.5')
  const deposited = await move('deposit', '--amount', '3')

  expect([withdrawn.code, deposited.code]).toEqual([0, 0])
  expect(tooMuch).toEqual({
    code: 2,
    text: expect.stringMatching(/^0x\w+ holds 3(\.\d+)? USDC on beta: 1\.[45]\d* USDC are missing\.$/),
  })
  expect(await held()).toBe(before)
})

type WrittenChain = { name: string; rpcUrls: string[]; native: object }

/** A copy of the network's configuration in which alpha differs. */
function writeChanged(change: (alpha: WrittenChain) => object): string {
  const network = JSON.parse(readFileSync(join(inject('home'), 'service.json'), 'utf8'))
  const chains = network.chains.map((chain: WrittenChain) =>
    chain.name === 'alpha' ? { ...chain, ...change(chain) } : chain,
  )
  const file = join(mkdtempSync(join(inject('home'), 'changed-')), 'service.json')
  writeFileSync(file, JSON.stringify({ ...network, chains }))
  return file
}

async function examine(args: string[], env: Record<string, string> = {}) {
  const { code, text } = await runOf(doctor, [...args, '--json'], env)
  const { findings } = JSON.parse(text.slice(0, text.lastIndexOf('}') + 1))
  const textsOf = (level: string): string[] =>
    findings.flatMap((each: { level: string; text: string }) => (each.level === level ? each.text : []))
  // The float is empty until a test funds it.
  const problems = textsOf('problem').filter((problem) => !problem.includes(inject('float')))
  return { code, text, problems, warnings: textsOf('warning'), facts: textsOf('ok') }
}

const { treasuryKey } = JSON.parse(readFileSync(join(inject('home'), 'secrets.json'), 'utf8'))
const key = { GEOSWAP_TREASURY_KEY: treasuryKey }

test('the doctor finds no problem in a running network, and names each one that there is', async () => {
  const sick = writeChanged(({ rpcUrls, native }) => ({
    // Two of three are a majority.
    rpcUrls: [
      ...rpcUrls,
      ...rpcUrls.map((url) => url.replace('127.0.0.1', 'localhost')),
      'http://127.0.0.1:9/v2/a1b2c3d4e5f6a7b8c9d0e1f2',
    ],
    native: { ...native, capPerHour: '1' },
  }))

  // Earlier tests leave inputs that the vault has to collect.
  await runOf(treasuryCommand, ['apply'], key)
  const well = await examine([])
  const found = await examine(['--config', sick], { DATABASE_URL: inject('databaseUrl') })

  expect(well.problems).toEqual([])
  expect(found.code).toBe(1)
  expect(found.problems).toEqual([
    expect.stringMatching(/^alpha: the treasury has to call GeoVault\.setCap\(0x0+, 10{18}\)/),
  ])
  expect(found.warnings).toEqual(
    expect.arrayContaining([
      'alpha: the node at 127.0.0.1:9 does not answer: it refuses connections',
      expect.stringContaining('alpha: the URL of 127.0.0.1:9 contains a key'),
      'beta: API and worker have a single node, which decides alone',
    ]),
  )
  expect(found.facts).toEqual(expect.arrayContaining([expect.stringMatching(/^PostgreSQL \d+/)]))
  expect(found.text).not.toContain('a1b2c3d4e5f6')
})

test('the treasury sets a changed cap once, while the service runs', async () => {
  const changed = writeChanged(({ native }) => ({ native: { ...native, claimCapPerHour: '123456' } }))
  const plan = await runOf(treasuryCommand, ['plan', '--config', changed])
  const before = /now ([\d.]+) ETH/.exec(plan.text)?.[1] ?? ''
  const restored = writeChanged(({ native }) => ({ native: { ...native, claimCapPerHour: before } }))

  const first = await runOf(treasuryCommand, ['apply', '--config', changed], key)
  const second = await runOf(treasuryCommand, ['apply', '--config', changed], key)
  const back = await runOf(treasuryCommand, ['apply', '--config', restored], key)

  expect(plan.text).toMatch(/alpha \(31337\): 1 call by 0x\w+\n {2}1\. GeoEscrow\.setClaimCap/)
  expect([first.text.split('\n').at(-1), second.text, back.text.split('\n').at(-1)]).toEqual([
    'Done: 1 call is in blocks.',
    'Nothing to call.',
    'Done: 1 call is in blocks.',
  ])
})

const gasOf = async (chainId: number) => {
  const rows = await operator.query<{ name: string }>('select name from lanes where name like $1', [
    `deliver:${chainId}:%`,
  ])
  return rows.map(({ name }) => getAddress(name.split(':')[2] ?? ''))
}

// Each of these waits for another chain.
describe.concurrent('at once', () => {
  test('a withdrawal on Solana pays once, and the books explain it', async () => {
    const { address } = await generateKeyPairSigner()
    const withdraw = ['withdraw', '--chain', 'solana', '--token', 'USDC', '--to', address, '--amount', '3']
    const once = onceIn((await command(...withdraw)).text)
    const last = async () => {
      const [row] = await operator.query<{ block: string }>(
        'select max(block) as block from ledger_movements where chain_id = $1 and credit = $2',
        [solana.chainId, 'treasury'],
      )
      return row?.block
    }

    for (let run = 0; run < 2; run += 1) {
      expect(await command(...withdraw, '--once', once, '--yes')).toMatchObject({ code: 0 })
    }

    expect(await solana.balanceOf(address, solana.token('USDC'))).toBe(3n * USDC)
    await until(async () => (await last()) !== null)
    expect(await operator.query('select 1 from quote_stops where resumed_at is null')).toEqual([])
  })

  test('503 CHAIN_UNAVAILABLE while no deliverer of the destination has gas, and not afterwards', async () => {
    const deliverers = await gasOf(alpha.chainId)
    const wallet = { address: privateKeyToAddress(generatePrivateKey()) }
    const order = { from: beta, sell: 'USDC', to: alpha, buy: 'USDC', amount: 10n * 10n ** 18n }
    const quoted = async () => refusalOf(await api.quote(toRequest(wallet, order)))
    const give = (value: bigint) =>
      Promise.all(deliverers.map((address) => alpha.client.setBalance({ address, value })))

    await give(1n)
    await until(async () => (await quoted()) === '503 CHAIN_UNAVAILABLE')
    const { body } = await api.quote(toRequest(wallet, order))
    const ready = await (await fetch(`${local.apiUrl}/ready`)).json()
    await give(10n ** 20n)

    const needs = deliverers.map((address) => `no gas at ${address} on alpha, needs about`)
    expect(needs.some((need) => (body as { message: string }).message.includes(need))).toBe(true)
    expect(ready).toMatchObject({
      checks: { gas: expect.arrayContaining(needs.map((need) => expect.stringContaining(need))) },
    })
    await until(async () => (await quoted()) === '200 OK')
  })

  test('a deliverer that runs low is topped up by the running worker', async () => {
    const [deliverer] = await gasOf(beta.chainId)
    if (!deliverer) throw new Error('No deliverer')
    await world.fund(beta, getAddress(inject('float')), 'ETH', 200n * 10n ** 18n)

    await beta.client.setBalance({ address: deliverer, value: 10n ** 18n })

    await until(async () => (await beta.client.getBalance({ address: deliverer })) === 100n * 10n ** 18n)
  })
})
