import { type Hex, keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { CHAIN_ID, sign, startTestChain } from '../../test/shape-chain.ts'

const chain = await startTestChain('ethereum')
const GWEI = 10n ** 9n

const authorize = (wallet: PrivateKeyAccount, nonce = 0) =>
  wallet.signAuthorization({
    address: '0x000000000000000000000000000000000000dEaD',
    chainId: CHAIN_ID,
    nonce,
  })

const pendingNonce = async (account: PrivateKeyAccount) =>
  Number(await chain.ask('eth_getTransactionCount', account.address, 'pending'))

const fees = (feeCap: bigint, tip: bigint) => ({ maxFeePerGas: feeCap, maxPriorityFeePerGas: tip })

test('a gapped transaction is kept, is not in the pending nonce, and is mined once the gap is closed', async () => {
  const sender = await chain.wallet()

  const later = await chain.send(sender, { nonce: 1 })
  expect(await pendingNonce(sender)).toBe(0)
  await chain.send(sender, { nonce: 0 })
  expect(await pendingNonce(sender)).toBe(2)
  await chain.mine()

  expect(await chain.ask('eth_getTransactionReceipt', later)).toMatchObject({ status: '0x1' })
})

test('an authority with two queued transactions refuses the whole transaction', async () => {
  const [sender, one, other] = await Promise.all([chain.wallet(), chain.wallet(), chain.wallet()])
  await chain.send(one, { nonce: 5 })
  await chain.send(one, { nonce: 7 })
  const authorizationList = [await authorize(other), await authorize(one)]

  await expect(chain.send(sender, { authorizationList, gas: 200_000n })).rejects.toThrow(
    '-32000 authority already reserved',
  )
})

test('an authority with one queued transaction is admitted', async () => {
  const [sender, wallet] = await Promise.all([chain.wallet(), chain.wallet()])
  await chain.send(wallet, { nonce: 5 })

  const hash = await chain.send(sender, { authorizationList: [await authorize(wallet)], gas: 200_000n })
  await chain.mine()

  expect(await chain.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
})

test('two pending authorizations may name one account', async () => {
  const [sender, other, wallet] = await Promise.all([chain.wallet(), chain.wallet(), chain.wallet()])
  const authorizationList = [await authorize(wallet)]

  await chain.send(sender, { authorizationList, gas: 200_000n })

  expect(await chain.send(other, { authorizationList, gas: 200_000n })).toMatch(/^0x/)
  await chain.mine()
})

test('a delegated account has one transaction in flight and none behind a gap', async () => {
  const [sender, wallet] = await Promise.all([chain.wallet(), chain.wallet()])
  await chain.send(sender, { authorizationList: [await authorize(wallet)], gas: 200_000n })
  await chain.mine()

  await expect(chain.send(wallet, { nonce: 3 })).rejects.toThrow(
    '-32000 gapped-nonce tx from delegated accounts',
  )
  await chain.send(wallet, { nonce: 1 })
  await expect(chain.send(wallet, { nonce: 2 })).rejects.toThrow(
    '-32000 in-flight transaction limit reached for delegated accounts',
  )
  expect(await chain.send(wallet, { nonce: 1, ...fees(30n * GWEI, 2n * GWEI) })).toMatch(/^0x/)
  await chain.mine()
})

test('an account with a pending delegation counts as delegated', async () => {
  const [sender, wallet] = await Promise.all([chain.wallet(), chain.wallet()])
  await chain.send(sender, { authorizationList: [await authorize(wallet)], gas: 200_000n })

  await expect(chain.send(wallet, { nonce: 1 })).rejects.toThrow('gapped-nonce tx from delegated accounts')
  await chain.mine()
})

test('a transaction whose nonce an authorization used up is dropped, and blocks continue', async () => {
  const [sender, wallet] = await Promise.all([chain.wallet(), chain.wallet()])
  const stale = await chain.send(wallet, fees(20n * GWEI, 1n))
  const hash = await chain.send(sender, { authorizationList: [await authorize(wallet)], gas: 200_000n })

  await chain.mine()

  expect(await chain.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
  expect(await chain.ask('eth_getTransactionByHash', stale)).toBe(null)
})

test('a replacement pays a tenth more on both fees', async () => {
  const sender = await chain.wallet()
  await chain.send(sender, fees(20n * GWEI, 2n * GWEI))
  const underpriced = '-32000 replacement transaction underpriced'

  await expect(chain.send(sender, fees(22n * GWEI, 2n * GWEI))).rejects.toThrow(underpriced)
  await expect(chain.send(sender, fees(20n * GWEI, 3n * GWEI))).rejects.toThrow(underpriced)
  await expect(chain.send(sender, fees(22n * GWEI - 1n, 3n * GWEI))).rejects.toThrow(underpriced)
  const hash = await chain.send(sender, fees(22n * GWEI, (22n * GWEI) / 10n))
  await chain.mine()

  expect(await chain.ask('eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
})

test('a pooled transaction is known, and its nonce is too low once it is mined', async () => {
  const sender = await chain.wallet()
  const raw = await sign(sender)
  expect(await chain.ask<Hex>('eth_sendRawTransaction', raw)).toBe(keccak256(raw))

  await expect(chain.ask('eth_sendRawTransaction', raw)).rejects.toThrow('-32000 already known')
  await chain.mine()
  await expect(chain.ask('eth_sendRawTransaction', raw)).rejects.toThrow(
    '-32000 nonce too low: next nonce 1, tx nonce 0',
  )
})

test('gas, tip, fee cap and balance are checked with the wording of go-ethereum', async () => {
  const sender = await chain.wallet()
  const poor = await chain.wallet(10n)

  await expect(chain.send(sender, { gas: 20_999n })).rejects.toThrow(
    '-32000 intrinsic gas too low: gas 20999, minimum needed 21000',
  )
  await expect(chain.send(sender, { gas: 21_100n, data: '0x1111111111' })).rejects.toThrow(
    '-32000 insufficient gas for floor data gas cost: gas 21100, minimum needed 21200',
  )
  await expect(chain.send(sender, { gas: 61_000_000n })).rejects.toThrow('-32000 exceeds block gas limit')
  await expect(chain.send(sender, fees(20n * GWEI, 0n))).rejects.toThrow(
    '-32000 transaction gas price below minimum: gas tip cap 0, minimum needed 1',
  )
  await expect(chain.send(poor)).rejects.toThrow(
    'insufficient funds for gas * price + value: balance 10, tx cost 2000000000000000, overshot 1999999999999990',
  )
})

test('Base uses the older wording for a low tip', async () => {
  const base = await startTestChain('base')
  const sender = await base.wallet()

  await expect(base.send(sender, fees(20n * GWEI, 0n))).rejects.toThrow(
    '-32000 transaction underpriced: gas tip cap 0, minimum needed 1',
  )
})

test('a sender pays for all its pending transactions together', async () => {
  const cost = 100_000n * 20n * GWEI
  const sender = await chain.wallet(cost + cost / 2n)
  await chain.send(sender)

  await expect(chain.send(sender, { nonce: 1 })).rejects.toThrow(
    `insufficient funds for gas * price + value: balance ${cost + cost / 2n}, queued cost ${cost}, tx cost ${cost}`,
  )
  await chain.mine()
})

test('a transaction of a reverted block may be sent again', async () => {
  const sender = await chain.wallet()
  const snapshot = await chain.ask('evm_snapshot')
  const raw = await sign(sender)
  await chain.ask('eth_sendRawTransaction', raw)
  await chain.mine()

  await chain.ask('evm_revert', snapshot)

  expect(await chain.ask<Hex>('eth_sendRawTransaction', raw)).toBe(keccak256(raw))
})
