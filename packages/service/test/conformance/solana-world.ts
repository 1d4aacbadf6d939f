import { decodeInputAccount } from '@geoswap/solana-escrow'
import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getFreezeAccountInstruction } from '@solana-program/token'
import type { Hex } from 'viem'
import type { CustodyChain } from '../../src/chains/custody.ts'
import { isNative, NATIVE_TOKEN, readAccounts, type Token } from '../../src/chains/solana/accounts.ts'
import { NATIVE_SOL } from '../../src/chains/solana/bytes.ts'
import { connectSolana } from '../../src/chains/solana/connect.ts'
import { createEscrowAddresses } from '../../src/chains/solana/facts.ts'
import { AHEAD_BLOCKS } from '../../src/chains/solana/heads.ts'
import { transferInstruction } from '../../src/chains/solana/message.ts'
import { readVaultBalances } from '../../src/chains/solana/reads.ts'
import { finishChain } from '../../src/config/finish.ts'
import type { SolanaChainConfig } from '../../src/config.ts'
import type { Swap } from '../../src/swap/swap.ts'
import { type SolanaWorld, startSolanaWorld, type TestMint } from '../support/solana.ts'
import { signAsWallet } from '../support/solana-wallet.ts'
import { startNodesBeside } from './liar.ts'
import {
  attester,
  type ConformanceWorld,
  INPUT_AMOUNT,
  type Kind,
  type SwapOptions,
  toOp,
  toSwap,
} from './world.ts'

const CHAIN_ID = 900_001
const HELD = 3n * INPUT_AMOUNT
const INVENTORY = 1_000_000_000_000n
// The lags of the local chain.
const CONFIRMED_SLOTS = 1
const FINALIZED_SLOTS = 32

export type SolanaConformanceWorld = ConformanceWorld & {
  solana: SolanaWorld
  mint: TestMint
  walletOf(swap: Swap): KeyPairSigner
  custody: CustodyChain
}

/** Escrow, vault and fee payers on a Solana chain whose slots the test advances. */
export async function startSolanaConformanceWorld(): Promise<SolanaConformanceWorld> {
  const solana = await startSolanaWorld()
  const mint = await solana.createMint()
  await solana.give(mint, solana.authority.address, INVENTORY)
  const { connected, forger, feePayers, stopNodes } = await connect(solana, mint)
  const { escrow } = solana
  const { chain } = connected
  const tokens = { native: NATIVE_SOL as string, token: mint.mint }
  const wallets = new Map<string, KeyPairSigner>()
  let position = 0n

  async function newWallet(kind: Kind): Promise<KeyPairSigner> {
    const wallet = await generateKeyPairSigner()
    wallets.set(wallet.address, wallet)
    if (kind === 'native') await solana.fund(wallet.address, HELD)
    else await solana.give(mint, wallet.address, HELD)
    return wallet
  }

  function walletOf({ op }: Swap): KeyPairSigner {
    const wallet = wallets.get(op.wallet)
    if (!wallet) throw new Error('Unknown wallet')
    return wallet
  }

  async function newSwap(options: SwapOptions = {}): Promise<Swap> {
    const { input = 'token', output = 'native', quotedOutput } = options
    const recipient = options.recipient ?? (await generateKeyPairSigner()).address
    const wallet = await newWallet(input)
    position += 1n
    const custodyOf = () => escrow
    const op = toOp(custodyOf, {
      method: 'transaction',
      chainId: CHAIN_ID,
      heads: await chain.readHeads(),
      position,
      quotedOutput,
      recipient,
      wallet: wallet.address,
      inputToken: tokens[input],
      outputToken: tokens[output],
      locker: feePayers.input,
      createsAccount: output === 'token',
    })
    return toSwap(op, await signInput(connected.builder, op, wallet))
  }

  const token = async (address: string) => (address === NATIVE_SOL ? NATIVE_TOKEN : mint)
  const addressesOf = createEscrowAddresses({ ...escrow, chainId: CHAIN_ID } as never, { tokenOf: token })

  async function heldFor(op: Swap['op']): Promise<bigint> {
    const [account] = await readAccounts(solana.client, { addresses: [await addressesOf.inputOf(op)] })
    return (
      (account && decodeInputAccount({ programAddress: account.owner, data: account.data })?.amount) ?? 0n
    )
  }

  async function balanceOf(owner: string, token: string): Promise<bigint> {
    const of = token === NATIVE_SOL ? NATIVE_TOKEN : mint
    const query = { owner, tokens: [of], commitment: 'confirmed' } as const
    return (await readVaultBalances(solana.client, query)).get(token) ?? 0n
  }

  return {
    solana,
    mint,
    walletOf,
    custody: connected.custody,
    newSwap,
    chain,
    tokens,
    vault: escrow.vault,
    heldFor,
    verify: connected.verify,
    senders: { relay: feePayers.input, deliver: feePayers.delivery },
    forgeriesAreRefusedBy: 'plan',
    async attest({ kind, swaps: [swap], by, isLate }) {
      if (!swap) throw new Error('Which swap?')
      const text = await (by === 'attester' ? connected : forger).attestations.sign(
        escrow.attester,
        { chainId: CHAIN_ID, kind, opHashes: [swap.op.hash] },
        [swap.op],
      )
      const signature = (isLate ? text.replace(/^\d+/, '1') : text) as Hex
      return { signer: escrow.attester as string as Hex, signature }
    },
    async newRefusal() {
      const { address: recipient } = await generateKeyPairSigner()
      await freeze(solana, mint, recipient)
      return { output: 'token', recipient }
    },
    balanceOf,
    async emptyWallet(swap) {
      const { wallet, inputToken } = swap.op
      const amount = await balanceOf(wallet, inputToken)
      const token = inputToken === NATIVE_SOL ? NATIVE_TOKEN : mint
      await payOut(solana, { from: walletOf(swap), token, amount })
    },
    confirm: async () => void (await solana.advance(CONFIRMED_SLOTS)),
    finalize: async () => void (await solana.advance(FINALIZED_SLOTS)),
    async comeTo({ lastValid }, block) {
      if (lastValid === undefined) throw new Error('Expected a last valid height')
      const slot = await solana.dev.dev_pauseSlots().send()
      // The local chain has one block per slot, so heights are slots.
      const height = block === 'last' ? lastValid - AHEAD_BLOCKS : lastValid + 1n
      await solana.advance(Number(height) - Number(slot))
    },
    async broadcastInVain(raw) {
      await solana.dev.dev_dropTransactions(1).send()
      await chain.broadcast(raw)
    },
    async stop() {
      await stopNodes()
      await solana.chain.stop()
    },
  }
}

async function connect(solana: SolanaWorld, { mint }: TestMint) {
  const delivery = await solana.fundedSigner()
  const { feePayer, authority, attester: signer, escrow, chain } = solana
  const feePayers = { input: feePayer.address, delivery: delivery.address }
  const nodes = await startNodesBeside(chain.rpcUrl, 'solana')
  const config: SolanaChainConfig = finishChain({
    family: 'solana',
    chainId: CHAIN_ID,
    name: 'solana',
    ...escrow,
    feePayers,
    rpcUrls: [chain.rpcUrl],
    attesterRpcUrls: [chain.rpcUrl],
    blockMs: 400,
    finality: { accept: [{ depth: 1 }], settle: 1, reorgWindowSeconds: 4, hard: FINALIZED_SLOTS },
    native: { symbol: 'SOL', asset: 'SOL' },
    tokens: [{ symbol: 'USDC', asset: 'USDC', address: mint }],
  })
  const connectAs = (attesting: KeyPairSigner) =>
    connectSolana({
      network: {
        assets: [],
        attesters: { members: [attester.address], threshold: 1 },
        relayers: [],
        authorizationRelayers: [],
        deliverers: [],
      },
      config: { ...config, attester: attesting.address },
      custodyOf: () => escrow,
      urls: nodes.urls,
      assertOutsideTransaction: () => {},
      signers: [feePayer, delivery, authority, attesting],
      venues: [],
      locks: [],
      float: undefined,
    })
  const [connected, forger] = [connectAs(signer), connectAs(await generateKeyPairSigner())]
  return { connected, forger, feePayers, stopNodes: nodes.stop }
}

type Builder = ReturnType<typeof connectSolana>['builder']

/** Builds, signs and checks an input, as between build and submit. */
async function signInput(builder: Builder, op: Swap['op'], wallet: KeyPairSigner) {
  const { messageHash, unsignedTransaction, lastValid } = await builder.build({
    opHash: op.hash,
    wallet: op.wallet,
    token: op.inputToken,
    amount: op.inputAmount,
    locker: op.locker,
    refundDeadline: op.refundDeadline,
  })
  const signedTransaction = await signAsWallet(wallet, unsignedTransaction)
  const checked = await builder.check({ messageHash, wallet: op.wallet, signedTransaction })
  if (checked.kind !== 'ok') throw new Error(checked.kind)
  return { signature: checked.signedTransaction, lastValid }
}

async function freeze(solana: SolanaWorld, mint: TestMint, owner: string): Promise<void> {
  const account = await solana.give(mint, owner, 0n)
  const freezing = { account, mint: mint.mint as Address, owner: mint.authority }
  await solana.run(solana.payer, [getFreezeAccountInstruction(freezing)])
}

type PayOut = { from: KeyPairSigner; token: Token; amount: bigint }

async function payOut(solana: SolanaWorld, { from, token, amount }: PayOut): Promise<void> {
  const { payer } = solana
  if (!isNative(token)) await solana.give(token, payer.address, 0n)
  await solana.run(payer, [await transferInstruction({ from, to: payer.address, token, amount })])
}
