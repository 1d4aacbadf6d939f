import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  appendTransactionMessageInstructions,
  createAddressWithSeed,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  type Nonce,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import {
  getCreateAccountWithSeedInstruction,
  getInitializeNonceAccountInstruction,
  getNonceDecoder,
  getNonceSize,
  getTransferSolInstruction,
} from '@solana-program/system'
import { readAccounts, SYSTEM_PROGRAM } from './accounts.ts'
import type { SolanaClients } from './client.ts'
import { readSignatures } from './reads.ts'
import { broadcast, priceInstruction, sendInstructions } from './send.ts'

const SEED = 'geoswap payments'
const POLL_MS = 400
// Of a node that does not have the transaction yet, although another has used the nonce.
const LAG_POLLS = 15
const MAX_POLLS = 300

type Payment = { to: string; lamports: bigint }
type Asked = {
  addresses: readonly string[]
  /** Plans payments by the balances of the addresses. */
  plan(balances: readonly bigint[]): readonly Payment[]
}

/**
 * Pays once what the balances ask for, in one transaction, and returns it; undefined if nothing is due. Balances and
 * the value of a nonce account of the payer are of one slot, and the transaction uses up that value. So of several
 * runs that saw the same balances, the chain takes one.
 */
export async function payByNonce(
  client: SolanaClients,
  payer: KeyPairSigner,
  { addresses, plan }: Asked,
): Promise<string | undefined> {
  const nonceAccount = await nonceAccountOf(payer.address)
  const read = async () => {
    const [held, ...accounts] = await readAccounts(client, { addresses: [nonceAccount, ...addresses] })
    const balances = accounts.map((account) => account?.lamports ?? 0n)
    return { value: held && valueIn(held.data), payments: plan(balances) }
  }
  let state = await read()
  if (state.payments.length === 0) return undefined
  if (state.value === undefined) {
    await createNonceAccount(client, payer, nonceAccount)
    state = await read()
  }
  const { value, payments } = state
  if (value === undefined) throw new Error(`The node does not show the account ${nonceAccount} yet`)
  if (payments.length === 0) return undefined
  const price = await priceInstruction(client, payer)
  const { raw, txHash } = await sign(payer, { nonceAccount, value, payments, price })
  await settle(client, { raw, txHash, isUsed: async () => (await read()).value !== value })
  return txHash
}

/** The rent of the nonce account; 0 if it exists. */
export async function readNonceRent(client: SolanaClients, payer: string): Promise<bigint> {
  const [account] = await readAccounts(client, { addresses: [await nonceAccountOf(payer)] })
  return account ? 0n : client.rpc.getMinimumBalanceForRentExemption(BigInt(getNonceSize())).send()
}

function nonceAccountOf(payer: string): Promise<Address> {
  return createAddressWithSeed({
    baseAddress: payer as Address,
    seed: SEED,
    programAddress: SYSTEM_PROGRAM,
  })
}

const valueIn = (data: Parameters<ReturnType<typeof getNonceDecoder>['decode']>[0]) =>
  getNonceDecoder().decode(data).blockhash as string as Nonce

async function createNonceAccount(
  client: SolanaClients,
  payer: KeyPairSigner,
  nonceAccount: Address,
): Promise<void> {
  const space = BigInt(getNonceSize())
  const amount = await client.rpc.getMinimumBalanceForRentExemption(space).send()
  const place = { payer, newAccount: nonceAccount, base: payer.address, seed: SEED, amount, space }
  await sendInstructions(client, payer, [
    getCreateAccountWithSeedInstruction({ ...place, programAddress: SYSTEM_PROGRAM }),
    getInitializeNonceAccountInstruction({ nonceAccount, nonceAuthority: payer.address }),
  ])
}

type Signed = { nonceAccount: Address; value: Nonce; payments: readonly Payment[]; price: Instruction }

async function sign(payer: KeyPairSigner, { nonceAccount, value, payments, price }: Signed) {
  const lifetime = {
    nonce: value,
    nonceAccountAddress: nonceAccount,
    nonceAuthorityAddress: payer.address,
  }
  const transfers = payments.map(({ to, lamports }) =>
    getTransferSolInstruction({ source: payer, destination: to as Address, amount: lamports }),
  )
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(payer, message),
    (message) => setTransactionMessageLifetimeUsingDurableNonce(lifetime, message),
    (message) => appendTransactionMessageInstructions([price, ...transfers], message),
    (message) => signTransactionMessageWithSigners(message),
  )
  return { raw: getBase64EncodedWireTransaction(signed), txHash: getSignatureFromTransaction(signed) }
}

type Settled = { raw: string; txHash: string; isUsed(): Promise<boolean> }

/** Sends until it is confirmed. Throws if it failed, is in no block for long, or another has used the nonce. */
async function settle(client: SolanaClients, { raw, txHash, isUsed }: Settled): Promise<void> {
  let usedPolls = 0
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    await broadcast(client, raw)
    await delay(POLL_MS)
    const status = (await readSignatures(client, [txHash])).get(txHash)
    if (status?.failed) throw new Error(`Transaction ${txHash} failed`)
    if (status && status.commitment !== 'processed') return
    if (!status && (await isUsed())) usedPolls += 1
    if (usedPolls > LAG_POLLS) throw new Error(`Another run has paid in place of transaction ${txHash}`)
  }
  throw new Error(`Transaction ${txHash} is still in no block`)
}
