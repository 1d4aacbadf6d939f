import type { Address, Hex } from 'viem'
import { type Ask, RpcError, type Rule, refuse } from './call.ts'
import type { EvmShape } from './evm-shape.ts'
import type { Fees } from './fee-system.ts'
import type { Heads } from './heads.ts'
import { checkAuthorities, checkBasics, checkDelegation, checkReplacement, checkState } from './pool-rules.ts'
import { createPoolView, type Pooled, type SenderView } from './pool-view.ts'
import { decodeSigned, type SignedTransaction } from './signed-transaction.ts'

/** Admits signed transactions by go-ethereum's rules, one at a time. */
export function guardPool(given: { ask: Ask; shape: EvmShape; heads: Heads; fees: Fees }): Rule {
  const { ask, shape, heads, fees } = given
  const view = createPoolView(ask)
  let turn: Promise<unknown> = Promise.resolve()

  async function admit(raw: Hex): Promise<Hex> {
    const tx = await decodeSigned(raw)
    const pool = (await view.read()).map(fees.asSigned)
    if (pool.some(({ hash }) => hash === tx.hash)) refuse('already known')
    const cost = await fees.l1CostOf(tx)
    const { gasLimit } = await heads.head()
    checkBasics(tx, { pool: shape.pool, blockGasLimit: gasLimit, l1Gas: cost.gas })
    const sender = await view.viewOf(pool, tx.from)
    checkState(tx, {
      sender,
      balanceWei: BigInt(await ask<string>('eth_getBalance', tx.from, 'latest')),
      l1Wei: cost.wei,
      pendingL1Wei: pendingL1Wei(sender, tx),
    })
    checkDelegation(tx, sender, await isDelegated(tx.from, pool))
    checkAuthorities(tx.delegations, pool)
    const old = [...sender.pending, ...sender.queued].find(({ nonce }) => nonce === tx.nonce)
    checkReplacement(tx, old, shape.pool.priceBumpPercent)
    return fees.submit(tx, cost)
  }

  /** The replaced transaction no longer counts. */
  function pendingL1Wei(sender: SenderView, tx: SignedTransaction): bigint {
    return sender.pending
      .filter(({ nonce }) => nonce !== tx.nonce)
      .reduce((sum, pooled) => sum + fees.l1WeiOf(pooled), 0n)
  }

  async function isDelegated(account: Address, pool: readonly Pooled[]): Promise<boolean> {
    if (pool.some(({ delegations }) => delegations.some(({ authority }) => authority === account)))
      return true
    return (await ask<string>('eth_getCode', account, 'latest')) !== '0x'
  }

  return (call, next) => {
    if (call.method !== 'eth_sendRawTransaction') return next(call)
    const [raw] = call.params
    if (typeof raw !== 'string' || !/^0x([0-9a-f]{2})+$/i.test(raw)) {
      throw new RpcError(
        -32_602,
        'invalid argument 0: json: cannot unmarshal into Go value of type hexutil.Bytes',
      )
    }
    const answer = turn.then(() => admit(raw as Hex))
    turn = answer.catch(() => {})
    return answer
  }
}
