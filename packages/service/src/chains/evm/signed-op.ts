import { type Hex, recoverMessageAddress } from 'viem'
import type { Swap } from '../../model/swap.ts'
import type { LockRef, LockState } from '../chain.ts'

type ReadLock = (op: LockRef) => Promise<LockState | undefined>

/** Whether the wallet signed the op. Without a stored signature a lock proves it: the escrow verified the signature. */
export async function isOpSigned({ op, signature }: Swap, readLock: ReadLock): Promise<boolean> {
  const isLost = signature === '' || op.isOrphan
  if (isLost) return ((await readLock(op)) ?? 'none') !== 'none'
  const signed = { message: { raw: op.hash as Hex }, signature: signature as Hex }
  // Invalid signature bytes recover to no address.
  const signer = await recoverMessageAddress(signed).catch(() => undefined)
  return signer === op.wallet
}
