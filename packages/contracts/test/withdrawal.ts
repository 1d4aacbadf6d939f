import type { Address, PrivateKeyAccount } from 'viem'
import { callEscrow } from './calls.ts'
import { domainOf, type Signature, toCompact } from './op.ts'
import { NATIVE, type World } from './world.ts'

type Withdrawal = { owner: Address; token: Address; to: Address; nonce: bigint; deadline: bigint }

const types = {
  Withdraw: [
    { name: 'owner', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** Signs a withdrawal of the signer's native credit to the treasury, by default. */
export async function signWithdrawal(
  world: World,
  signer: PrivateKeyAccount,
  terms: Partial<Withdrawal> = {},
): Promise<Withdrawal & Signature> {
  const fixed = { owner: signer.address, token: NATIVE, to: world.treasury, nonce: 0n, deadline: 2n ** 40n }
  const message = { ...fixed, ...terms }
  const typed = { domain: domainOf(world), types, primaryType: 'Withdraw', message } as const
  return { ...message, ...toCompact(await signer.signTypedData(typed)) }
}

/** Sends a signed withdrawal for its owner. */
export function sendWithdrawal(world: World, signed: Withdrawal & Signature) {
  const { owner, token, to, deadline, r, vs } = signed
  return callEscrow(world, world.stranger, 'withdrawBySignature', [owner, token, to, deadline, r, vs])
}
