import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, inject, test } from 'vitest'
import { createOperator } from '../operator.ts'
import { authorize, createWorld, outcomeOf, prepare, submitSwap, until } from '../world.ts'

const world = createWorld(inject('local'))
const { alpha, beta, api } = world

const operator = createOperator(inject('databaseUrl'))

const USDC = 1_000_000n
const ETHER = 10n ** 18n

const findMovements = (swapId: string) =>
  operator.query<{ kind: string }>(
    'select kind, amount, debit, credit from ledger_movements where swap_id = $1 order by kind',
    [swapId],
  )

// These mostly wait for blocks, so they do it together.
test.concurrent('a wallet with only USDC on alpha receives WETH on beta, delegated by its first swap', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)

  const { quote, swapId } = await submitSwap(world, wallet, {
    ...{ from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC },
  })
  const outcome = await outcomeOf(world, swapId)

  expect(outcome.status).toBe('settled')
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
  expect(await beta.balanceOf(wallet.address, 'WETH')).toBe(BigInt(quote.output))
  expect(await alpha.balanceOf(wallet.address, 'ETH')).toBe(0n)
  expect(outcome.amounts).toMatchObject({ input: '10000000', delivered: quote.output })
  const delegation = await api.delegation(alpha.chainId, wallet.address)
  expect(delegation.body).toMatchObject({
    delegated: true,
    originReady: true,
    delegatedTo: alpha.contracts.account,
  })
})

test.concurrent('a second swap of a wallet needs no authorization, and its network cost is lower', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'WETH', amount: 10n * USDC }
  const first = await submitSwap(world, wallet, order)
  await outcomeOf(world, first.swapId)

  expect(await authorize(api, wallet, alpha.chainId)).toBeUndefined()
  const second = await submitSwap(world, wallet, order)

  expect((await outcomeOf(world, second.swapId)).status).toBe('settled')
  const originCost = ({ fees }: typeof first.quote) =>
    Number(fees.find((fee) => fee.kind === 'originNetwork')?.amount)
  expect(originCost(second.quote)).toBeLessThan(originCost(first.quote))
})

test.concurrent('native coin can be the input and the output', async () => {
  const wallet = await world.walletWith(alpha, 'ETH', ETHER)

  const { quote, swapId } = await submitSwap(world, wallet, {
    ...{ from: alpha, sell: 'ETH', to: beta, buy: 'ETH', amount: ETHER / 10n },
  })

  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await alpha.balanceOf(wallet.address, 'ETH')).toBe((ETHER * 9n) / 10n)
  expect(await beta.balanceOf(wallet.address, 'ETH')).toBe(BigInt(quote.output))
})

test.concurrent('an exact output arrives to the last unit, whatever the decimals', async () => {
  const wallet = await world.walletWith(beta, 'USDC', 100n * ETHER)

  const { quote, swapId } = await submitSwap(world, wallet, {
    ...{
      from: beta,
      sell: 'USDC',
      to: alpha,
      buy: 'USDC',
      amount: 12_345_678n,
      tradeType: 'exactOutput' as const,
    },
  })

  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect([quote.output, quote.minOutput]).toEqual(['12345678', '12345678'])
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(12_345_678n)
  expect(await beta.balanceOf(wallet.address, 'USDC')).toBe(100n * ETHER - BigInt(quote.input))
})

test.concurrent('a swap can stay on one chain and go to another recipient', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const recipient = '0x00000000000000000000000000000000000000A1'

  const { quote, swapId } = await submitSwap(world, wallet, {
    ...{ from: alpha, sell: 'USDC', to: alpha, buy: 'GEO', amount: 10n * USDC, recipient },
  })

  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await alpha.balanceOf(recipient, 'GEO')).toBe(BigInt(quote.output))
})

test.concurrent.each([
  ['USDC', 10n * USDC, 'exactInput' as const],
  ['USDC', 7_654_321n, 'exactOutput' as const],
  ['ETH', ETHER / 10n, 'exactInput' as const],
])('the same token goes to another recipient without gas: %s, %s, %s', async (token, amount, tradeType) => {
  const wallet = await world.walletWith(alpha, token, 10n * amount)
  const recipient = privateKeyToAddress(generatePrivateKey())

  const order = { from: alpha, sell: token, to: alpha, buy: token, amount, tradeType, recipient }
  const { quote, swapId } = await submitSwap(world, wallet, order)
  const [input, output] = [BigInt(quote.input), BigInt(quote.output)]

  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await alpha.balanceOf(recipient, token)).toBe(output)
  expect(await alpha.balanceOf(wallet.address, token)).toBe(10n * amount - input)
  // Fee and network costs are all that it costs.
  expect(quote.fees.map(({ kind }) => kind)).toEqual(['serviceFee', 'originNetwork', 'deliveryNetwork'])
  expect(quote.fees.reduce((sum, fee) => sum + BigInt(fee.amount), output)).toBe(input)
  const moved = await until(async () => {
    const rows = await findMovements(swapId)
    return rows.length === 3 && rows
  })
  expect(moved).toEqual([
    { kind: 'claimed', amount: `${input}`, debit: 'locked', credit: 'inventory' },
    { kind: 'delivered', amount: `${output}`, debit: 'inventory', credit: 'wallet' },
    { kind: 'locked', amount: `${input}`, debit: 'wallet', credit: 'locked' },
  ])
})

test('the input of a settled swap is claimed into the vault', async () => {
  const wallet = await world.walletWith(alpha, 'WETH', ETHER)
  const held = await alpha.balanceOf(alpha.contracts.vault, 'WETH')

  const { swapId } = await submitSwap(world, wallet, {
    ...{ from: alpha, sell: 'WETH', to: beta, buy: 'USDC', amount: ETHER },
  })
  await outcomeOf(world, swapId)

  await until(async () => (await alpha.balanceOf(alpha.contracts.vault, 'WETH')) === held + ETHER)
  expect(await alpha.balanceOf(alpha.contracts.escrow, 'WETH')).toBe(0n)
})

test('a delivery made before its lock was final is no longer exposed once the lock is final', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)

  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC }
  const { swapId } = await submitSwap(world, wallet, order)
  await outcomeOf(world, swapId)

  // Inputs that a reorg took from other tests stay exposed.
  const exposed = `select e.cents - coalesce(sum(s.exposed_cents), 0) as cents
    from exposure e left join (swaps s join ops o on o.id = s.op_id)
      on o.origin_chain = e.chain_id and not s.origin_final and s.id <> $2
   where e.chain_id = $1 group by e.cents`
  const isFree = { cents: '0' }
  await expect
    .poll(() => operator.query(exposed, [alpha.chainId, swapId]), { timeout: 60_000 })
    .toEqual([isFree])
})

test.concurrent('ten parallel submissions of one operation are one swap', async () => {
  const wallet = await world.walletWith(alpha, 'USDC', 100n * USDC)
  const { submission } = await prepare(world, wallet, {
    ...{ from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: 10n * USDC },
  })

  const replies = await Promise.all(Array.from({ length: 10 }, () => api.submit(submission)))

  expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
  expect(new Set(replies.map((reply) => reply.body.swapId)).size).toBe(1)
  const swapId = replies[0]?.body.swapId ?? ''
  expect((await outcomeOf(world, swapId)).status).toBe('settled')
  expect(await alpha.balanceOf(wallet.address, 'USDC')).toBe(90n * USDC)
})
