import { findMarker, findTokenAccount } from '@geoswap/solana-escrow'
import { type Address, address, lamports } from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import type { Hex } from 'viem'
import { authorityOf, operationOf } from '../../solana-orders.ts'
import { type Acting, openFromSolana, openSwap, opOf } from './act.ts'
import type { CrowdKind } from './kinds.ts'

// Lamports, token accounts and transactions that strangers put at our addresses on Solana.

// An account holds at least this much.
const DUST = 1_000_000n
const SPAM = 5
const ONE = 1n
const LAMPORTS = 'lamports'

/** All addresses of the operator, each once. */
function ours({ field }: Acting): Address[] {
  const { inventory, attester, feePayers } = field.network.keys.solana
  const all = [feePayers.input, feePayers.delivery, inventory, attester].map((key) => key.address)
  return [...new Set([...all, address(field.solana.vault)])]
}

async function giveLamports({ field, note }: Acting, to: readonly Address[], amount: bigint): Promise<void> {
  const { solana } = field
  const transfers = to.map((destination) =>
    getTransferSolInstruction({ source: solana.payer, destination, amount: lamports(amount) }),
  )
  const txHash = await solana.send(...transfers)
  for (const each of to) note({ chain: 'solana', to: each, token: LAMPORTS, amount, txHash })
}

/** A token account with some USDC, of each of our keys. */
async function openAccounts(acting: Acting): Promise<void> {
  const { field, purses, note } = acting
  const { solana } = field
  const token = { mint: solana.token('USDC'), program: TOKEN_PROGRAM_ADDRESS }
  const source = await findTokenAccount(purses.solana.address, token)
  for (const owner of ours(acting)) {
    const destination = await findTokenAccount(owner, token)
    const account = { payer: solana.payer, ata: destination, owner, mint: token.mint }
    const transfer = {
      source,
      destination,
      authority: purses.solana,
      mint: token.mint,
      decimals: 6,
      amount: ONE,
    }
    const txHash = await solana.send(
      getCreateAssociatedTokenIdempotentInstruction(account),
      getTransferCheckedInstruction(transfer),
    )
    note({ chain: 'solana', to: owner, token: token.mint, amount: ONE, txHash })
  }
}

/** Lamports where the input will be; sometimes its whole token account, so that it cannot be created. */
async function takeInput(acting: Acting): Promise<void> {
  const { field, act } = acting
  const { solana } = field
  await openFromSolana(acting, async (build) => {
    const operation = operationOf(build)
    if (!act.isLate) return giveLamports(acting, [address(operation.destination)], DUST)
    const account = { payer: solana.payer, ata: address(operation.destination), mint: solana.token('USDC') }
    const owner = await authorityOf(operation)
    await solana.send(getCreateAssociatedTokenIdempotentInstruction({ ...account, owner }))
  })
}

/** Lamports where the marker of a delivery will be. */
async function takeMarker(acting: Acting): Promise<void> {
  const { field } = acting
  const program = field.network.local.chains.find(({ chainId }) => chainId === field.solana.chainId)?.program
  await openSwap(acting, async (build) => {
    const { delivery: opId } = opOf({ build }).argument
    const of = { vault: address(field.solana.vault), opId }
    const [marker] = await findMarker(address(program ?? ''), of)
    await giveLamports(acting, [marker], DUST)
  })
}

/** Many transactions that name our addresses, and an op that goes on. */
async function spam(acting: Acting): Promise<void> {
  const { field, note } = acting
  const { solana } = field
  const newest = 'select o.hash from swaps s join ops o on o.id = s.op_id order by s.id desc limit 1'
  const [swap] = (await field.pool.query<{ hash: Hex }>(newest)).rows
  if (!swap) throw new Error('There is no swap yet')
  const memo = getAddMemoInstruction({ memo: swap.hash.slice(2) })
  const named = ours(acting)
  const sendOne = async (amount: bigint) => {
    const transfers = named.map((destination) =>
      getTransferSolInstruction({ source: solana.payer, destination, amount: lamports(amount) }),
    )
    const txHash = await solana.send(...transfers, memo)
    for (const to of named) note({ chain: 'solana', to, token: LAMPORTS, amount, txHash })
  }
  await Promise.all(Array.from({ length: SPAM }, (_, index) => sendOne(DUST + BigInt(index))))
}

export const solanaActs: Partial<Record<CrowdKind, (acting: Acting) => Promise<void>>> = {
  solanaAccounts: openAccounts,
  solanaDust: (acting) => giveLamports(acting, ours(acting), DUST),
  solanaInput: takeInput,
  solanaMarker: takeMarker,
  solanaHistory: spam,
}
