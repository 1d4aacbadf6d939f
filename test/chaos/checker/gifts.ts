import { zeroAddress } from 'viem'
import type { SwapRow } from './database.ts'
import { type Check, type Evidence, eachAsync } from './evidence.ts'
import type { EvmEvidence, OpEventKind } from './evm-evidence.ts'
import type { Gift } from './input.ts'

// Transfers of strangers that nobody asked for: they stay where they are, and change nothing else.

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** Gifts that are on the chain. */
export async function landedGifts({ input, evm }: Pick<Evidence, 'input' | 'evm'>): Promise<Gift[]> {
  const chains = new Map([...evm.values()].map((each) => [each.chain.name, each]))
  const landed = await Promise.all(
    input.gifts.map(async (gift) => {
      const chain = chains.get(gift.chain)
      return chain === undefined || (await chain.hasSucceeded(gift.txHash)) ? [gift] : []
    }),
  )
  return landed.flat()
}

/** The sum of all gifts of this token to this account. */
export const givenTo = (
  gifts: readonly Gift[],
  { chain, to, token }: Pick<Gift, 'chain' | 'to' | 'token'>,
): bigint =>
  sum(
    gifts
      .filter((gift) => gift.chain === chain && isSame(gift.to, to) && isSame(gift.token, token))
      .map(({ amount }) => BigInt(amount)),
  )

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** The escrow holds open inputs, credits and gifts, and nothing else. */
export const escrowTotals: Check = async (evidence) => {
  if (!evidence.input.facts.hasCrowd) return []
  const gifts = await landedGifts(evidence)
  const judged = [...evidence.evm.values()].flatMap((chain) =>
    chain.chain.tokens.map(({ address }) => ({ chain, token: address })),
  )
  return eachAsync('INV-27', judged, async ({ chain, token }) => {
    const { escrow = '', vault = '' } = chain.chain.contracts ?? {}
    const swaps = evidence.db.swaps.filter(
      ({ origin_chain, input_token }) => origin_chain === chain.chain.chainId && isSame(input_token, token),
    )
    const inside = swaps.filter((swap) => isInside(evidence, swap)).map(({ input_amount }) => input_amount)
    const owners = [...new Set([...swaps.map(({ wallet }) => wallet), vault, ...pursesOn(evidence, chain)])]
    const credits = await Promise.all(owners.map((owner) => chain.creditOf(owner, token)))
    const gift = givenTo(gifts, { chain: chain.chain.name, to: escrow, token })
    const held = await chain.balanceOf(escrow, token)
    const due = sum(inside) + sum(credits) + gift
    // A reorg may have undone the refund of an op of strangers: each has one unit.
    const most = due + (token === zeroAddress ? 0n : BigInt(countForeign(evidence, chain)))
    return held < due || held > most
      ? `the escrow of ${chain.chain.name} holds ${held} of ${token} instead of ${due}`
      : undefined
  })
}

function isInside({ opEventsOf }: Evidence, swap: SwapRow): boolean {
  const has = (kind: OpEventKind) => opEventsOf(swap, kind).length > 0
  return has('lock') && !has('claim') && !has('refund')
}

const pursesOn = ({ input }: Evidence, { chain }: EvmEvidence) =>
  (input.setup.purses ?? []).flatMap((purse) => (purse.chain === chain.name ? purse.address : []))

/** Ops of strangers that are still locked. */
function countForeign({ db }: Evidence, { opEvents }: EvmEvidence): number {
  const own = new Set(db.swaps.map(({ op_hash }) => op_hash.toLowerCase()))
  const idsOf = (kind: OpEventKind) =>
    new Set(opEvents.flatMap((event) => (event.kind === kind ? event.id.toLowerCase() : [])))
  const gone = idsOf('refund')
  return [...idsOf('lock')].filter((id) => !own.has(id) && !gone.has(id)).length
}
