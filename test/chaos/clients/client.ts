import type { KeyPairSigner } from '@solana/kit'
import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { operationOf } from '../../solana-orders.ts'
import { signBuild } from '../../ways.ts'
import { authorize, toRequest } from '../../world.ts'
import type { EvmChainName } from '../plan.ts'
import { isSent } from '../sent.ts'
import { deposit } from './deposits.ts'
import { follow } from './follow.ts'
import * as hostile from './hostile-actions.ts'
import { submitByPayment } from './payments.ts'
import { amountOf, type Party, type Scene, sideOf } from './scene.ts'

/** One client: a quote, a build, a signature, a submission, and status reads until the end. */
export async function live(scene: Scene, party: Party): Promise<void> {
  const { caller } = scene
  const { plan, wallet, recipient } = party
  const order = {
    ...{ from: sideOf(scene, plan.from), sell: plan.sell, to: sideOf(scene, plan.to), buy: plan.buy },
    ...{ amount: amountOf(plan), recipient },
  }
  const begin = {
    type: 'begin',
    wallet: wallet.address,
    amount: `${order.amount}`,
    token: order.from.token(plan.sell),
  }
  caller.note({ ...begin, ...plan, recipient, output: order.to.token(plan.buy) })
  try {
    const request = toRequest(wallet, order)
    const swapId = await (plan.method === 'payment'
      ? submitByPayment(scene, party, { request })
      : plan.from === 'solana'
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
  const { method } = party.plan
  const wallet = party.wallet as PrivateKeyAccount
  const geoQuoteToken = await quoteOf(scene, request)
  if (!geoQuoteToken) return undefined
  const isDelegation = method === 'delegation'
  const authorization = isDelegation && (await authorize(caller, wallet, world.chainNamed(from).chainId))
  const build = await caller.build({ geoQuoteToken, method, ...(authorization && { authorization }) })
  if (build.status !== 200) return undefined
  const { geoOpHash, geoOpToken, depositAddress } = build.body
  if (depositAddress) scene.onOpAddress(from, depositAddress as Address)
  const sign = isDelegation
    ? () => wallet.signMessage({ message: { raw: geoOpHash as Hex } })
    : () => signBuild(wallet, build.body)
  const submission = { geoOpToken, ...(!isSent(method) && { signature: await sign() }) }
  await hostile.beforeSubmit(scene, party, { from, submission, build: build.body })
  const { status, body } = await caller.submit(submission)
  if (status !== 200) return undefined
  const built = { from, submission, build: build.body, swapId: body.swapId }
  if (isSent(method)) await deposit(scene, party, built)
  await hostile.afterSubmit(scene, party, built)
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
