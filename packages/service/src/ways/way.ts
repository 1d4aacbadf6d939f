import type { BuildGeoOpReply, InputMethod } from '@geoswap/wire'
import type { Delegation, OriginWays } from '../chains/chain.ts'
import type { EvmLock } from '../chains/evm/ways.ts'
import type { CatalogChain, Token } from '../swap/catalog.ts'
import type { Quote } from '../swap/quote.ts'
import type { SignedDelegation, Swap, WayName } from '../swap/swap.ts'

export type WalletCode = Delegation['kind']

/** Whether code that is not ours answers for the wallet. */
export const isOthers = (code: WalletCode): boolean => code === 'foreign' || code === 'contract'

/** One way in which an input comes in: the facts by which every stage treats it. */
export type Way<Name extends string = WayName> = {
  name: Name
  /**
   * The form of the wallet's signature for its input. Without a signature the input is sent to the op's own address,
   * by anyone: it is waited for, and neither reserved nor priced before it arrives.
   */
  signs: 'hash' | 'typedData' | 'transaction' | 'nothing'
  /**
   * The wallet pays in the life of any op. For anyone, such as an exchange that looks at a withdrawal, the price has to
   * hold a quarter of an hour: between equal or pegged assets alone.
   */
  payer: 'wallet' | 'anyone'
  /** Whether one transaction locks several inputs. */
  isBatched: boolean
  /** Whether code of strangers may fail the lock after all checks: it is simulated as it will be sent. */
  isSimulated: boolean
  /** Whether an input of this token can come in so, on a chain with this native coin. */
  takes(token: Token, native: Token): boolean
  /** Whether a wallet with this code can pay so. */
  canPay(code: WalletCode): boolean
}

/** The swap of a transaction that takes one input. */
export function onlyOne(swaps: readonly Swap[]): Swap {
  const [only] = swaps
  if (only === undefined || swaps.length > 1)
    throw new Error(`Only one of ${swaps.length} swaps can be locked`)
  return only
}

type Hex = `0x${string}`

export type DelegationCheck = {
  wallet: string
  chainId: number
  delegationTarget: string
  /** Other ways in which this wallet can pay. */
  others: readonly InputMethod[]
}

/** The facts from which a payment is told. `terms` are those that the op's hash commits to. */
export type BuiltOp = {
  chain: CatalogChain
  escrow: Hex
  quote: Pick<Quote, 'inputToken' | 'amountIn' | 'wallet'>
  op: { hash: string; terms: unknown; expiresAt: Date; permitNonce?: bigint | undefined }
}

type Payment = Pick<
  BuildGeoOpReply,
  'typedData' | 'depositAddress' | 'depositUntil' | 'transaction' | 'sendCalls'
>

/** A way on EVM chains: how it is built, and how the chain takes the input. */
export type EvmWay<Name extends string = InputMethod> = Way<Name> &
  EvmLock<Name> & {
    /** Whether the op's own address spends the input. */
    usesAddress: boolean
    /** The delegation that the op has to carry, checked; undefined for a wallet that needs none. */
    getDelegation?(
      check: DelegationCheck,
      state: Delegation,
      given: SignedDelegation | undefined,
    ): Promise<SignedDelegation | undefined>
    /** Reads the number of the wallet's next permit, if that is what it signs. */
    readPermitNonce?(ways: OriginWays, quote: Quote): Promise<bigint>
    /** The fields of a build reply that tell how to pay. */
    toPayment(built: BuiltOp): Payment
  }
