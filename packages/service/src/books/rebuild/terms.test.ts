import { expect, test } from 'vitest'
import { deadlinesFrom } from '../../swap/deadlines.ts'
import { type ChainCustody, type OpContent, termsOfOp } from '../../swap/op-terms.ts'
import { withSlippage } from '../../swap/pricing.ts'
import { completeTerms } from './terms.ts'

const EVM = 1
const SOLANA = 3
const evm: ChainCustody = {
  escrow: '0xe5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5',
  vault: '0xfafafafafafafafafafafafafafafafafafafafa',
}
const onSolana: ChainCustody = {
  program: 'So11111111111111111111111111111111111111112',
  vault: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
}
const custodyOf = (chainId: number) => (chainId === EVM ? evm : onSolana)
const policy = {
  opLifeSeconds: 120,
  volatileLifeSeconds: 60,
  depositSeconds: 900,
  lockInclusionSeconds: 60,
  fillSeconds: 600,
  cutOffSeconds: 60,
  attemptLifeSeconds: 90,
  detectionSeconds: 60,
  claimInclusionSeconds: 300,
}
const finality = {
  originSeconds: 240,
  destinationSeconds: 13,
  reorgWindowSeconds: 20,
  originBlockSeconds: 2,
}
const rules = { custodyOf, deadlines: policy, finalityOf: () => finality }

const AMOUNT = 1_234_567n

/** An op from the EVM chain to Solana as built, and its traces on the two chains. */
function lostOp({ slippageBps, ahead }: { slippageBps: number; ahead: number }) {
  const clocks = { originSeconds: 1_000_000, destinationSeconds: 1_000_000 + ahead }
  const content: OpContent = {
    originChain: EVM,
    destinationChain: SOLANA,
    wallet: `0x${'aa'.repeat(20)}`,
    inputAmount: 500n,
    inputToken: `0x${'bb'.repeat(20)}`,
    locker: `0x${'cc'.repeat(20)}`,
    position: 4n,
    round: 9n,
    outputToken: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    recipient: '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin',
    minOutput: slippageBps === 0 ? AMOUNT : withSlippage(AMOUNT, slippageBps),
    ...deadlinesFrom(policy, clocks, finality),
  }
  const { hash, deliveryHash } = termsOfOp(custodyOf, content)
  const { wallet, inputToken, inputAmount, locker, position, round, opDeadline, refundDeadline } = content
  const lock = {
    wallet,
    inputToken,
    inputAmount,
    locker,
    deliveryHash,
    seconds: 1_000_050,
    signed: { position, round, opDeadline, refundDeadline },
  }
  const { outputToken, recipient } = content
  const delivery = { outputToken, recipient, chainId: SOLANA, amount: AMOUNT }
  return { content, found: { hash, originChain: EVM, lock, delivery } }
}

test.each([
  { slippageBps: 300, ahead: 0 },
  { slippageBps: 0, ahead: -7 },
  { slippageBps: 5_000, ahead: 5 },
])('a delivery on Solana and its lock give the terms back: %o', (lost) => {
  const { content, found } = lostOp(lost)

  expect(completeTerms(rules, found)).toEqual(content)
})

test('a delivery to another recipient, or of another amount, does not match the op', () => {
  const { found } = lostOp({ slippageBps: 50, ahead: 0 })
  const other = { ...found.delivery, recipient: 'So11111111111111111111111111111111111111112' }

  expect(completeTerms(rules, { ...found, delivery: other })).toBeUndefined()
  expect(completeTerms(rules, { ...found, delivery: { ...found.delivery, amount: 5n } })).toBeUndefined()
})
