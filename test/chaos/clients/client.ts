import type { KeyPairSigner } from '@solana/kit'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { operationOf } from '../../solana-orders.ts'
import { authorize, toRequest } from '../../world.ts'
import type { EvmChainName } from '../plan.ts'
import * as hostile from './hostile-actions.ts'
import { amountOf, type Party, type Scene, sideOf } from './scene.ts'

const HELD_SECONDS = 5

/** One client: a quote, a build, a signature, a submission, and status reads until the end. */
export async function live(scene: Scene, party: Party): Promise<void> {
  const { caller } = scene
  const { plan, wallet, recipient } = party
  const order = {
    ...{ from: sideOf(scene, plan.from), sell: 'USDC', to: sideOf(scene, plan.to), buy: plan.buy },
    ...{ amount: amountOf(plan), recipient },
  }
  const begin = {
    type: 'begin',
    wallet: wallet.address,
    amount: `${order.amount}`,
    token: order.from.token('USDC'),
  }
  caller.note({ ...begin, ...plan, recipient, output: order.to.token(plan.buy) })
  try {
    const request = toRequest(wallet, order)
    const swapId = await (plan.from === 'solana'
      ? submitFromSolana(scene, party, request)
      : submitFromEvm(scene, party, plan.from, request))
    if (swapId) await follow(scene, swapId)
  } catch (error) {
    caller.note({ type: 'gaveUp', why: String(error) })
  }
}

async function quoteOf({ caller }: Scene, request: object): Promise<string | undefined> {
  const { status, body } = await caller.quote(request)
  return status === 200 ? body.geoQuoteToken : undefined
}

async function submitFromEvm(scene: Scene, party: Party, from: EvmChainName, request: object) {
  const { caller, world } = scene
  const wallet = party.wallet as PrivateKeyAccount
  const geoQuoteToken = await quoteOf(scene, request)
  if (!geoQuoteToken) return undefined
  const authorization = await authorize(caller, wallet, world.chainNamed(from).chainId)
  const build = await caller.build({ geoQuoteToken, ...(authorization && { authorization }) })
  if (build.status !== 200) return undefined
  const signature = await wallet.signMessage({ message: { raw: build.body.geoOpHash as Hex } })
  const submission = { geoOpToken: build.body.geoOpToken, signature }
  await hostile.beforeSubmit(scene, party, { from, submission, build: build.body })
  const { status, body } = await caller.submit(submission)
  if (status !== 200) return undefined
  await hostile.afterSubmit(scene, party, { from, submission, build: build.body, swapId: body.swapId })
  return body.swapId
}

async function submitFromSolana(scene: Scene, party: Party, request: object) {
  const { caller, solana } = scene
  const geoQuoteToken = await quoteOf(scene, request)
  if (!geoQuoteToken) return undefined
  const build = await caller.buildSolana({ geoQuoteToken })
  if (build.status !== 200) return undefined
  const { geoOpToken, unsignedTransaction } = build.body
  const wallet = party.wallet as KeyPairSigner
  const signedTransaction = await solana.signTransaction(wallet, unsignedTransaction)
  await hostile.beforeSolanaSubmit(scene, party, {
    geoOpToken,
    signedTransaction,
    ...operationOf(build.body),
  })
  const { status, body } = await caller.submitSolana({ geoOpToken, signedTransaction })
  if (status !== 200) return undefined
  await hostile.refuseOutput(scene, party, body.swapId)
  return body.swapId
}

/** Held reads until the end, and one more after it: the end must not change. */
async function follow({ caller, isOver }: Scene, swapId: string): Promise<void> {
  while (!isOver()) {
    const { status, body } = await caller.status(swapId, HELD_SECONDS)
    if (status === 200 && body.status !== 'pending') break
  }
  await caller.status(swapId, 0)
}
