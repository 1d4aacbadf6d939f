import { geoVaultAbi } from '@geoswap/protocol'
import { encodeFunctionData, pad } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, inject, test } from 'vitest'
import { runCommand } from '../../packages/service/src/command.ts'
import { listStops, pause, resume } from '../../packages/service/src/operate/stops.ts'
import { createCheckedClient } from '../checked-client.ts'
import { createOperator } from '../operator.ts'
import { createSolanaWorld } from '../solana-world.ts'
import { createWorld, outcomeOf, prepare, quoteOnceSettled, toRequest, until } from '../world.ts'

const local = inject('local')
const world = createWorld(local)
const { alpha, beta } = world
const operator = createOperator(inject('databaseUrl'))
const api = createCheckedClient({ ...local, apiKey: await operator.createKey() })

const USDC = 1_000_000n

const commands = { pause, resume, stops: listStops }

async function command(name: keyof typeof commands, ...args: string[]): Promise<string> {
  const said: string[] = []
  const output = { out: (text: string) => said.push(text), hint: (text: string) => said.push(text) }
  const env = { GEOSWAP_HOME: inject('home') }
  const code = await runCommand(output, () => commands[name](args, env, output))
  if (code !== 0) throw new Error(said.join('\n'))
  return said.join('\n')
}

afterEach(async () => {
  for (const { id } of JSON.parse(await command('stops', '--json'))) {
    await command('resume', '--stop', id, '--note', 'the test is over')
  }
})

const sell = { from: alpha, sell: 'USDC', amount: 10n * USDC }
const request = (to: { chainId: number; token(symbol: string): string }, buy: string) =>
  toRequest({ address: '0x00000000000000000000000000000000000000aa' }, { ...sell, to, buy })

test('503 CHAIN_UNAVAILABLE at once for paused routes only; submitted swaps are finished', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const { submission } = await prepare({ api }, wallet, { ...sell, to: beta, buy: 'WETH' })

  await command('pause', '--chain', 'beta', '--asset', 'eth', '--note', 'maintenance')
  await until(async () => (await api.quote(request(beta, 'WETH'))).status === 503, 2_000)
  const refused = await api.quote(request(beta, 'WETH'))
  const { body: listed } = await api.tokens(beta.chainId)
  const { body: submitted } = await api.submit(submission)

  expect(refused.body).toMatchObject({
    ...{ code: 'CHAIN_UNAVAILABLE', retryable: true, details: { chainId: beta.chainId, stopped: true } },
    message: 'Swaps of WETH on beta are stopped for now. Try again later, or choose another route.',
  })
  expect(listed.tokens.find(({ symbol }: { symbol: string }) => symbol === 'WETH')).toMatchObject({
    ...{ input: false, output: false },
  })
  expect((await api.quote(request(beta, 'USDC'))).status).toBe(200)
  expect((await api.quote(request(alpha, 'WETH'))).status).toBe(200)
  expect((await outcomeOf({ api }, submitted.swapId)).status).toBe('settled')

  await command('resume', '--chain', 'beta', '--asset', 'ETH', '--note', 'done')
  await quoteOnceSettled(api, request(beta, 'WETH'))
})

test('a route is paused in one direction, by name', async () => {
  await command('pause', '--from', 'alpha:USDC', '--to', 'beta:WETH', '--note', 'one way')
  await until(async () => (await api.quote(request(beta, 'WETH'))).status === 503, 2_000)

  const back = { from: beta, sell: 'WETH', to: alpha, buy: 'USDC', amount: 10n ** 16n }
  const wallet = { address: '0x00000000000000000000000000000000000000aa' }

  expect((await api.quote(toRequest(wallet, back))).status).toBe(200)
})

test('a delivery without a swap stops its asset on that chain until an operator resumes it', async () => {
  const { vault } = beta.contracts
  const attacker = privateKeyToAddress(generatePrivateKey())
  const treasury = await beta.client.readContract({
    address: vault,
    abi: geoVaultAbi,
    functionName: 'TREASURY',
  })
  const allow = { abi: geoVaultAbi, functionName: 'setDeliverer', args: [attacker, true] } as const
  const ring = pad('0x01', { size: 32 })
  const fill = { index: 1n << 32n, amount: 5n, minOutput: 1n, recipient: attacker, fillDeadline: 2n ** 40n }
  const args = [ring, beta.token('GEO') as `0x${string}`, fill] as const

  await beta.as(treasury, { to: vault, data: encodeFunctionData(allow) })
  await beta.mine()
  await beta.as(attacker, {
    to: vault,
    data: encodeFunctionData({ abi: geoVaultAbi, functionName: 'deliver', args }),
  })
  await until(async () => (await api.quote(request(beta, 'GEO'))).status === 503)
  const stops = JSON.parse(await command('stops', '--json'))

  expect(stops).toMatchObject([{ why: 'drift', scope: { chainId: beta.chainId, asset: 'GEO' } }])
  expect((await api.quote(request(alpha, 'GEO'))).status).toBe(200)
  const [booked] = await operator.query<{ amount: string }>(
    `select amount from ledger_balances where chain_id = $1 and token = $2 and account = 'unexplained'`,
    [beta.chainId, beta.token('GEO')],
  )
  expect(booked?.amount).toBe('5')
})

test('the books match the chains, and nothing else was ever missing', async () => {
  const solana = await createSolanaWorld(local)
  const evm = [alpha, beta].map((chain) => ({
    ...{ chainId: chain.chainId, token: chain.token('USDC') as string },
    inventory: () => chain.balanceOf(chain.contracts.vault, 'USDC'),
    escrow: () => chain.balanceOf(chain.contracts.escrow, 'USDC'),
  }))
  const { vault } = solana
  const token = solana.token('USDC')
  const places = [
    ...evm,
    {
      ...{ chainId: solana.chainId, token, inventory: () => solana.balanceOf(vault, token) },
      // All swaps have ended: no input is left.
      escrow: async () => 0n,
    },
  ]
  const booked = async ({ chainId, token }: { chainId: number; token: string }, accounts: string[]) => {
    const [row] = await operator.query<{ amount: string }>(
      `select coalesce(sum(amount), 0) as amount from ledger_balances
        where chain_id = $1 and token = $2 and account = any($3)`,
      [chainId, token, accounts],
    )
    return BigInt(row?.amount ?? -1)
  }

  for (const place of places) {
    await until(async () => (await booked(place, ['inventory'])) === (await place.inventory()))
    await until(async () => (await booked(place, ['locked', 'owed', 'spare'])) === (await place.escrow()))
  }
  const drifts = await operator.query(
    `select note from quote_stops where why = 'drift' and (chain_id, asset) is distinct from ($1::bigint, 'GEO')`,
    [beta.chainId],
  )
  expect(drifts).toEqual([])
})
