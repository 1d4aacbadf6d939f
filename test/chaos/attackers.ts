import { geoVaultAbi, toIndex } from '@geoswap/protocol'
import { findTokenAccount, refundInstruction, type Terms } from '@geoswap/solana-escrow'
import {
  type Address,
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { encodeFunctionData, type Hex, hexToBytes, keccak256, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { delay } from '../bench/clock.ts'
import { until, type WorldChain } from '../world.ts'
import type { RunContext } from './run-context.ts'

// Attackers with one key each. They take all that the contracts allow them; the checker compares it with the documented
// bounds.

const USDC = 'USDC'
// Of the vault on the chain that is robbed, in an hour.
const CAP_USD = 5_000n
const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const LOOK_MS = 100

export type Attackers = { rob(withinMs: number): Promise<void> }

/** The treasury has allowed one more key to deliver, and bounds what all of them pay in an hour. */
export async function prepareAttackers(field: RunContext): Promise<Attackers> {
  const chain = field.world.chainNamed('beta')
  const deliverer = privateKeyToAddress(generatePrivateKey())
  const { address: treasury } = field.network.keys.treasury
  const call = (data: Hex) => chain.as(treasury, { to: chain.contracts.vault, data })
  await call(vaultCall('setDeliverer', [deliverer, true]))
  await call(vaultCall('setCap', [chain.token(USDC), CAP_USD * 10n ** 18n]))
  return {
    async rob(withinMs) {
      await robEscrow(field, withinMs)
      await robVault(field, chain, deliverer)
      await robInventory(field)
    },
  }
}

function vaultCall(functionName: 'setDeliverer' | 'setCap' | 'deliver', args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: geoVaultAbi, functionName, args } as never)
}

/** A stolen deliverer pays itself until the cap of the hour refuses. */
async function robVault({ ledger }: RunContext, chain: WorldChain, deliverer: Hex): Promise<void> {
  const token = chain.token(USDC)
  const { vault } = chain.contracts
  const read = { address: vault, abi: geoVaultAbi, functionName: 'caps', args: [token] } as const
  for (let round = 1n; ; round += 1n) {
    const [limit, spent] = await chain.client.readContract(read)
    const { timestamp } = await chain.client.getBlock()
    // Twice as much as is left is refused; then all of it is taken.
    const amount = round === 1n ? 2n * (limit - spent) : limit - spent
    const fill = {
      ...{ index: toIndex({ round, position: 0n }), amount, minOutput: amount },
      ...{ recipient: deliverer, fillDeadline: timestamp + 3_600n },
    }
    const data = vaultCall('deliver', [keccak256(toHex('attacker')), token, fill])
    const txHash = await chain.as(deliverer, { to: vault, data })
    const { status } = await chain.client.waitForTransactionReceipt({ hash: txHash })
    ledger.fault('stolenDeliverer', { chain: chain.name, txHash, status, amount: `${amount}` })
    if (status === 'success') return
  }
}

type Open = { hash: Hex; wallet: string; refund_deadline: string; input_amount: string }

/** A stolen Solana attester sends inputs back to their wallets after they were paid for. */
async function robEscrow(field: RunContext, withinMs: number): Promise<void> {
  const { solana, network, ledger, processes } = field
  const attester = await signerOf(network.keys.solana.attester.seed)
  // The service claims within seconds otherwise.
  const signalAll = (signal: NodeJS.Signals) => {
    for (const index of network.keys.attesters.keys()) processes.signal('attester', index, signal)
  }
  signalAll('SIGSTOP')
  const paid = await findPaid(field, withinMs)
  for (const op of paid) {
    const terms: Terms = {
      ...{ wallet: address(op.wallet), vault: address(solana.vault), attester: attester.address },
      ...{ rentReceiver: network.keys.solana.feePayers.input.address, opId: op.hash },
      refundDeadline: BigInt(op.refund_deadline),
      amount: BigInt(op.input_amount),
    }
    const token = { mint: solana.token(USDC), program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }
    const refund = await refundInstruction(programOf(field), { terms, token, attested: true })
    const memo = getAddMemoInstruction({ memo: op.hash.slice(2) }, { programAddress: MEMO_PROGRAM })
    const txHash = await solana.send(signedBy(attester, refund), memo)
    ledger.fault('stolenSolanaAttester', { chain: 'solana', txHash, op: op.hash })
  }
  signalAll('SIGCONT')
}

const PAID = `select o.hash, s.wallet, o.refund_deadline, o.input_amount from swaps s join ops o on o.id = s.op_id
               where s.origin_chain = $1 and s.origin_final and s.state = 'settled'`

/** Inputs on Solana whose outputs were paid, and that are not claimed yet. */
async function findPaid({ pool, solana }: RunContext, withinMs: number): Promise<Open[]> {
  for (const end = Date.now() + withinMs; Date.now() < end; await delay(LOOK_MS)) {
    const { rows } = await pool.query<Open>(PAID, [solana.chainId])
    if (rows.length > 0) return rows
  }
  return []
}

/** A stolen authority of the inventory on Solana takes all of it. */
async function robInventory({ solana, network, ledger }: RunContext): Promise<void> {
  const owner = await signerOf(network.keys.solana.inventory.seed)
  const attacker = await generateKeyPairSigner()
  const token = { mint: solana.token(USDC), program: TOKEN_PROGRAM_ADDRESS, decimals: 6 }
  const [source, ata] = await Promise.all([
    findTokenAccount(owner.address, token),
    findTokenAccount(attacker.address, token),
  ])
  const amount = await solana.balanceOf(owner.address, token.mint)
  const account = { payer: solana.payer, ata, owner: attacker.address, mint: token.mint }
  const transfer = { source, destination: ata, authority: owner, mint: token.mint, decimals: 6, amount }
  const txHash = await solana.send(
    getCreateAssociatedTokenIdempotentInstruction(account),
    getTransferCheckedInstruction(transfer),
  )
  const held = await until(async () => (await solana.balanceOf(attacker.address, token.mint)) === amount)
  ledger.fault('stolenInventory', {
    chain: 'solana',
    txHash,
    amount: `${amount}`,
    held,
    attacker: attacker.address,
  })
}

const signerOf = (seed: Hex): Promise<KeyPairSigner> =>
  createKeyPairSignerFromPrivateKeyBytes(hexToBytes(seed))

function signedBy(signer: KeyPairSigner, { accounts, ...instruction }: Required<Instruction>): Instruction {
  const withSigner = accounts.map((meta) => (meta.address === signer.address ? { ...meta, signer } : meta))
  return { ...instruction, accounts: withSigner } as Instruction
}

function programOf({ network, solana }: RunContext): Address {
  const chain = network.local.chains.find(({ chainId }) => chainId === solana.chainId)
  return address(chain?.program ?? '')
}
