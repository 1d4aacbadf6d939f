import { type Address, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { delay } from '../../bench/clock.ts'
import { delegateTo, setCode } from '../../instant-wallet.ts'
import { recipientCodes, walletCodes } from '../../strangers.ts'
import { persist } from '../progress.ts'
import { blocksOf, inTurn } from '../run-context.ts'
import { type Acting, type Opened, openSwap, partyOf, untilLocked } from './act.ts'
import type { CrowdKind } from './kinds.ts'
import { untilMined } from './purses.ts'

// Swaps of strangers whose wallet, recipient or token changes on the way.

type SwapAct = (acting: Acting) => Promise<void>

/** An account's code changes once its swap was submitted: before the transaction that depends on it, or after. */
function changing(whose: 'wallet' | 'recipient', code: Hex): SwapAct {
  return async (acting) => {
    const opened = await openSwap(acting)
    if (acting.act.isLate || whose === 'recipient') await untilLocked(acting, opened)
    await setCode(placeOf(acting, whose), accountOf(opened, whose), code)
  }
}

function accountOf({ party }: Opened, whose: 'wallet' | 'recipient'): Address {
  return (whose === 'wallet' ? party.wallet.address : party.recipient) as Address
}

function placeOf(acting: Acting, whose: 'wallet' | 'recipient') {
  const { to } = partyOf(acting).plan
  if (whose === 'wallet' || to === 'solana') return acting.chain
  return acting.field.world.chainNamed(to)
}

/** A recipient that takes coins only where nobody pays for gas, from before the quote on. */
async function flippingRecipient(acting: Acting): Promise<void> {
  const { recipient } = partyOf(acting)
  await setCode(placeOf(acting, 'recipient'), recipient as Address, recipientCodes.takesWhileGasIsFree)
  await openSwap(acting)
}

async function delegatedAway(acting: Acting): Promise<void> {
  const opened = await openSwap(acting)
  if (acting.act.isLate) await untilLocked(acting, opened)
  await delegateTo(acting.chain, accountOf(opened, 'wallet'), acting.chain.contracts.vault)
}

const blacklist = parseAbi(['function blacklist(address holder)'])
const ISSUER = '0x0000000000000000000000000000000000000013'

function blocking(whose: 'wallet' | 'recipient'): SwapAct {
  return async (acting) => {
    const opened = await openSwap(acting)
    if (acting.act.isLate) await untilLocked(acting, opened)
    const chain = placeOf(acting, whose)
    const args = [accountOf(opened, whose)] as const
    const data = encodeFunctionData({ abi: blacklist, functionName: 'blacklist', args })
    await untilMined(chain, await chain.as(ISSUER, { to: chain.token('USDC'), data }))
  }
}

// Where OpenZeppelin keeps the symbol of a token, and a short text there.
const SYMBOL_AT = '0x4'
const OTHER_SYMBOL = `0x${Buffer.from('USDC').toString('hex').padEnd(62, '0')}08` as Hex
const REVERTS: Hex = '0x5f5ffd'
const CHANGED_MS = 3_000

/** A listed token changes for some seconds, with a swap of it on the way. No reorg may undo the end of that. */
function changingToken(change: (acting: Acting, token: Address) => Promise<() => Promise<void>>): SwapAct {
  return async (acting) => {
    const { chain, field, act } = acting
    const opened = await openSwap(acting)
    if (act.isLate) await untilLocked(acting, opened)
    await inTurn(field.turns, blocksOf(act.chain), async () => {
      const restore = await change(acting, chain.token('GEO'))
      await delay(CHANGED_MS)
      await persist(restore)
    })
  }
}

/** The code of another token: other decimals on one chain, and a domain for signatures. */
async function giveCode({ chain }: Acting, token: Address, code: Hex): Promise<() => Promise<void>> {
  const own = await chain.codeOf(token)
  await setCode(chain, token, code)
  return () => setCode(chain, token, own)
}

async function rename({ chain }: Acting, token: Address): Promise<() => Promise<void>> {
  const own = await chain.client.getStorageAt({ address: token, slot: SYMBOL_AT })
  if (!own) throw new Error('The token has no symbol')
  const write = (value: Hex) => chain.client.setStorageAt({ address: token, index: SYMBOL_AT, value })
  await write(OTHER_SYMBOL)
  return () => write(own)
}

export const swapActs: Partial<Record<CrowdKind, SwapAct>> = {
  silentWallet: changing('wallet', walletCodes.answersNothing),
  gasPriceWallet: changing('wallet', walletCodes.acceptsWhileGasIsFree),
  originWallet: changing('wallet', walletCodes.acceptsOfNoOrigin),
  gasLeftWallet: changing('wallet', walletCodes.acceptsWithMuchGas),
  megabyteWallet: changing('wallet', walletCodes.answersMegabytes),
  goneWallet: changing('wallet', walletCodes.hasNoCode),
  delegatedAwayWallet: delegatedAway,
  gasPriceRecipient: flippingRecipient,
  burningRecipient: changing('recipient', recipientCodes.burnsAllGas),
  megabyteRecipient: changing('recipient', recipientCodes.refusesWithMegabytes),
  blockedWallet: blocking('wallet'),
  blockedRecipient: blocking('recipient'),
  pausedToken: changingToken((acting, token) => giveCode(acting, token, REVERTS)),
  renamedToken: changingToken(rename),
  changedToken: changingToken(async (acting, token) =>
    giveCode(acting, token, await acting.chain.codeOf(acting.chain.token('USDC'))),
  ),
}
