import {
  findInputAccount,
  findMarker,
  type OpId,
  type Token as ProgramToken,
  type Terms,
} from '@geoswap/solana-escrow'
import type { Address } from '@solana/kit'
import type { Op } from '../../swap/swap.ts'
import { toOpId } from './bytes.ts'
import type { Facts } from './facts.ts'
import type { Token } from './mint.ts'
import type { SolanaChainSettings } from './settings.ts'

type Roles = Pick<SolanaChainSettings, 'vault' | 'attester'>
export type LockedOp = Pick<Op, 'hash' | 'wallet' | 'locker' | 'refundDeadline' | 'inputAmount'>

/** The terms of an op's escrow. Its locker paid for the account and gets the rent back. */
export function termsOf({ vault, attester }: Roles, op: LockedOp): Terms {
  const roles = [op.wallet, vault, attester, op.locker]
  // The program takes each account once.
  if (new Set(roles).size < roles.length) throw new Error('Two roles of an escrow have one address')
  return {
    wallet: op.wallet as Address,
    vault: vault as Address,
    attester: attester as Address,
    rentReceiver: op.locker as Address,
    opId: opIdOf(op.hash),
    refundDeadline: BigInt(op.refundDeadline),
    amount: op.inputAmount,
  }
}

export const opIdOf = (hash: string): OpId => `0x${toOpId(hash)}`

export const toProgramToken = (token: Token) => token as ProgramToken

/** The addresses of inputs and markers. */
export type EscrowAddresses = {
  inputOf(op: LockedOp & Pick<Op, 'inputToken'>): Promise<string>
  markerOf(deliveryHash: string): Promise<string>
}

export function createEscrowAddresses(
  settings: SolanaChainSettings,
  { tokenOf }: Pick<Facts, 'tokenOf'>,
): EscrowAddresses {
  const program = settings.program as Address
  return {
    async inputOf(op) {
      const token = toProgramToken(await tokenOf(op.inputToken))
      return findInputAccount(program, { terms: termsOf(settings, op), token })
    },
    async markerOf(deliveryHash) {
      const vault = settings.vault as Address
      const [marker] = await findMarker(program, { vault, opId: opIdOf(deliveryHash) })
      return marker
    },
  }
}
