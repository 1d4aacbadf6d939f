import { readRefundableOp } from '@geoswap/protocol'
import type { BuildGeoOpReply, BuildSolanaTxReply } from '@geoswap/wire'
import type { KeyPairSigner } from '@solana/kit'
import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { delay } from '../../bench/clock.ts'
import { patience } from '../../patience.ts'
import { signatureForCode } from '../../strangers.ts'
import { signBuild } from '../../ways.ts'
import { authorize, toRequest, type WorldChain } from '../../world.ts'
import type { Caller } from '../clients/caller.ts'
import { amountOf, type Party, sideOf } from '../clients/scene.ts'
import type { RunContext } from '../run-context.ts'
import { isSent } from '../sent.ts'
import { type CrowdAct, hasCode } from './kinds.ts'
import type { Purse, Purses } from './purses.ts'

/** A transfer of strangers to an account of the operator, or to the op of a client. */
export type Gift = {
  chain: string
  to: string
  token: string
  amount: bigint
  txHash: string
  client?: number
}

/** Everything that an act may use. */
export type Acting = {
  act: CrowdAct
  field: RunContext
  chain: WorldChain
  purse: Purse
  purses: Purses
  caller: Caller
  /** Of the act's own swap. */
  party: Party | undefined
  note(gift: Gift): void
  /** Whether the phase of the run is over: nothing is waited for any more. */
  isOver(): boolean
}

export type Opened = { party: Party; build: BuildGeoOpReply; swapId: string }

export function partyOf({ party, act }: Pick<Acting, 'party' | 'act'>): Party {
  if (!party) throw new Error(`${act.kind} has no wallet`)
  return party
}

const LOCKED = ['locked', 'delivering', 'delivered', 'settled']
const LOCK_MS = 30_000 * patience
const LOOK_MS = 250

/** Quotes, builds and submits the act's swap from an EVM chain. */
export async function openSwap(
  acting: Acting,
  beforeSubmit?: (build: BuildGeoOpReply) => Promise<void>,
): Promise<Opened> {
  const { caller, chain } = acting
  const party = partyOf(acting)
  const wallet = party.wallet as PrivateKeyAccount
  const { method } = party.plan
  const isCode = hasCode(acting.act)
  const authorization = method === 'delegation' && (await authorize(caller, wallet, chain.chainId))
  const geoQuoteToken = await quoteOf(acting, party)
  const { status, body } = await caller.build({
    geoQuoteToken,
    method,
    ...(authorization && { authorization }),
  })
  if (status !== 200) throw new Error(`build: ${status} ${body.code}`)
  await beforeSubmit?.(body)
  const signature = isCode ? signatureForCode(body) : await signatureOf(wallet, body, method)
  const submitted = await caller.submit({ geoOpToken: body.geoOpToken, ...(signature && { signature }) })
  if (submitted.status !== 200) throw new Error(`submit: ${submitted.status} ${submitted.body.code}`)
  return { party, build: body, swapId: submitted.body.swapId }
}

async function signatureOf(wallet: PrivateKeyAccount, build: BuildGeoOpReply, method?: string) {
  if (isSent(method)) return undefined
  if (method === 'delegation') return wallet.signMessage({ message: { raw: build.geoOpHash as Hex } })
  return signBuild(wallet, build)
}

/** The same from Solana. */
export async function openFromSolana(
  acting: Acting,
  beforeSubmit: (build: BuildSolanaTxReply) => Promise<void>,
): Promise<void> {
  const { caller, field } = acting
  const party = partyOf(acting)
  const { status, body } = await caller.buildSolana({ geoQuoteToken: await quoteOf(acting, party) })
  if (status !== 200) throw new Error(`build: ${status} ${body.code}`)
  const { geoOpToken, unsignedTransaction } = body
  const signedTransaction = await field.solana.signTransaction(
    party.wallet as KeyPairSigner,
    unsignedTransaction,
  )
  await beforeSubmit(body)
  // A refusal is an answer: an account at the input's address may be found before anything is stored.
  await caller.submitSolana({ geoOpToken, signedTransaction })
}

async function quoteOf({ caller, field }: Acting, { plan, wallet, recipient }: Party): Promise<string> {
  const order = {
    ...{ from: sideOf(field, plan.from), sell: plan.sell, to: sideOf(field, plan.to), buy: plan.buy },
    ...{ amount: amountOf(plan), recipient },
  }
  const { status, body } = await caller.quote(toRequest(wallet, order))
  if (status !== 200) throw new Error(`quote: ${status} ${body.code}`)
  return body.geoQuoteToken
}

/** Until the input is locked or the swap has ended; false if faults keep it from both for this time. */
export async function untilLocked(acting: Acting, { swapId }: Opened, withinMs = LOCK_MS): Promise<boolean> {
  const { caller, isOver } = acting
  for (const end = Date.now() + withinMs; Date.now() < end && !isOver(); await delay(LOOK_MS)) {
    const { body } = await caller.status(swapId, 0)
    if (body.status !== 'pending' || body.timeline?.some(({ stage }) => LOCKED.includes(stage))) return true
  }
  return false
}

export const opOf = ({ build }: Pick<Opened, 'build'>) => readRefundableOp(build.operation)
export const addressOf = ({ build }: Pick<Opened, 'build'>) => build.depositAddress as Address
