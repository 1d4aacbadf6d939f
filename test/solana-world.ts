import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createDefaultRpcTransport,
  createJsonRpcApi,
  createRpc,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getSignatureFromTransaction,
  getSolanaErrorFromTransactionError,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
  partiallySignTransaction,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getAddMemoInstruction } from '@solana-program/memo'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { patience } from './patience.ts'
import type { LocalNetwork, LocalSolanaChain } from './world.ts'

const NATIVE_SOL = address('11111111111111111111111111111111')
export const TOKEN_2022_PROGRAM_ADDRESS = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')

const PAYER_LAMPORTS = 10_000n * 10n ** 9n
const CONFIRMATION_TIMEOUT_MS = 30_000 * patience
const POLL_MS = 50

/** Controls of the chain that no real node has; the chain's README explains them. */
type DevApi = {
  dev_pauseSlots(): number
  dev_resumeSlots(): number
  dev_advanceSlots(count: number): number
  dev_dropTransactions(amount: number | { count: number } | { probability: number; seed?: number }): null
  dev_delayTransactions(options: { count: number; slots: number }): null
  dev_setAccount(at: string, account: object): null
  dev_advanceClock(seconds: number): number
}
type Rpc = ReturnType<typeof createSolanaRpc>
type Sender = { rpc: Rpc; payer: KeyPairSigner; send(...instructions: Instruction[]): Promise<Signature> }

type TestMint = { address: Address; program: Address; decimals: number }
export type MintOptions = {
  decimals?: number
  program?: Address
  /** Extra bytes of the mint, and the instruction that writes them before it is initialized. */
  extension?: { bytes: number; initialize(mint: Address): Instruction }
}
export type SolanaWorld = Awaited<ReturnType<typeof createSolanaWorld>>

/** Wallets, balances, mints and faults on the network's Solana chain, through its RPC and the faucet. */
export async function createSolanaWorld(local: Pick<LocalNetwork, 'faucetUrl' | 'chains'>) {
  const chain = getChain(local)
  const rpc = createSolanaRpc(chain.rpcUrl)
  const payer = await generateKeyPairSigner()
  await rpc.requestAirdrop(payer.address, lamports(PAYER_LAMPORTS)).send()
  const send = createSend(rpc, payer)
  const sender = { rpc, payer, send }

  function token(symbol: string): Address {
    const found = chain.tokens.find((each) => each.symbol === symbol)
    if (!found) throw new Error(`The chain has no ${symbol}`)
    return address(found.address)
  }

  async function fund(owner: string, symbol: string, amount: bigint): Promise<void> {
    const gift = { chainId: chain.chainId, address: owner, token: token(symbol), amount: `${amount}` }
    const response = await fetch(local.faucetUrl, { method: 'POST', body: JSON.stringify(gift) })
    if (!response.ok) throw new Error(`faucet: ${await response.text()}`)
  }

  return {
    ...{ chainId: chain.chainId, rpc, dev: createDev(chain), vault: chain.vault, token, fund },
    /** Pays for the transactions of `send`, and is the authority of the mints created here. */
    payer,
    /** Lands these instructions and waits until they are confirmed; throws if they fail. */
    send,
    balanceOf: (owner: string, tokenAddress: string) => readBalance(rpc, { owner, tokenAddress }),
    signTransaction,

    /** A new wallet that holds exactly these amounts by symbol: no SOL unless it is named. */
    async wallet(amounts: Readonly<Record<string, bigint>> = {}): Promise<KeyPairSigner> {
      const wallet = await generateKeyPairSigner()
      await Promise.all(Object.entries(amounts).map((each) => fund(wallet.address, ...each)))
      return wallet
    },

    createMint: (options: MintOptions = {}) => createMint(sender, options),
    /** Mints into the owner's associated token account, which is created if missing. */
    mintTo: (mint: TestMint, owner: string, amount: bigint) => mintTo(sender, { mint, owner, amount }),
  }
}

/** Adds the wallet's signature to a transaction, and leaves everything else unchanged. */
async function signTransaction(wallet: KeyPairSigner, base64: string): Promise<string> {
  const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(base64))
  return getBase64EncodedWireTransaction(await partiallySignTransaction([wallet.keyPair], transaction))
}

function getChain({ chains }: Pick<LocalNetwork, 'chains'>): LocalSolanaChain {
  const chain = chains.find((each) => each.family === 'solana')
  if (!chain) throw new Error('The network has no Solana chain')
  return chain
}

function createDev({ rpcUrl }: LocalSolanaChain) {
  const transport = createDefaultRpcTransport({ url: rpcUrl })
  return createRpc({ api: createJsonRpcApi<DevApi>({ responseTransformer: resultOf }), transport })
}

/** Handles closed, frozen and several accounts of one owner: zero, the balance, the sum. */
async function readBalance(rpc: Rpc, of: { owner: string; tokenAddress: string }): Promise<bigint> {
  const owner = address(of.owner)
  const commitment = 'confirmed'
  if (of.tokenAddress === NATIVE_SOL) return (await rpc.getBalance(owner, { commitment }).send()).value
  const { value } = await rpc
    .getTokenAccountsByOwner(
      owner,
      { mint: address(of.tokenAddress) },
      { commitment, encoding: 'jsonParsed' },
    )
    .send()
  const amounts = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount))
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

function createSend(rpc: Rpc, payer: KeyPairSigner): Sender['send'] {
  let sent = 0
  return async (...instructions) => {
    sent += 1
    // Without it, equal instructions within one slot would be the same transaction.
    const memo = getAddMemoInstruction({ memo: `${sent}` })
    const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()
    const signed = await pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(payer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions([...instructions, memo], message),
      (message) => signTransactionMessageWithSigners(message),
    )
    const options = { encoding: 'base64', preflightCommitment: 'processed' } as const
    await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), options).send()
    const signature = getSignatureFromTransaction(signed)
    await untilConfirmed(rpc, signature)
    return signature
  }
}

async function untilConfirmed(rpc: Rpc, signature: Signature): Promise<void> {
  const deadline = Date.now() + CONFIRMATION_TIMEOUT_MS
  while (Date.now() < deadline) {
    const { value } = await rpc.getSignatureStatuses([signature]).send()
    const [status] = value
    if (status?.err) throw getSolanaErrorFromTransactionError(status.err)
    if (status && status.confirmationStatus !== 'processed') return
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`Transaction ${signature} was not confirmed in time: are the slots paused?`)
}

async function createMint({ rpc, payer, send }: Sender, options: MintOptions): Promise<TestMint> {
  const { decimals = 6, program: programAddress = TOKEN_PROGRAM_ADDRESS, extension } = options
  const mint = await generateKeyPairSigner()
  // With an extension: the size of a token account, the kind of account, then type and length of the
  // extension.
  const space = BigInt(extension ? 165 + 1 + 4 + extension.bytes : getMintSize())
  const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
  const authorities = { mintAuthority: payer.address, freezeAuthority: payer.address }
  await send(
    getCreateAccountInstruction({ payer, newAccount: mint, lamports: rent, space, programAddress }),
    ...(extension ? [extension.initialize(mint.address)] : []),
    getInitializeMint2Instruction({ mint: mint.address, decimals, ...authorities }, { programAddress }),
  )
  return { address: mint.address, program: programAddress, decimals }
}

async function mintTo(
  { payer, send }: Sender,
  gift: { mint: TestMint; owner: string; amount: bigint },
): Promise<Address> {
  const owner = address(gift.owner)
  const { address: mint, program } = gift.mint
  const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram: program })
  await send(
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint, tokenProgram: program }),
    getMintToInstruction(
      { mint, token: ata, mintAuthority: payer, amount: gift.amount },
      { programAddress: program },
    ),
  )
  return ata
}

function resultOf<Result>(response: unknown): Result {
  const { result, error } = response as { result: Result; error?: unknown }
  if (error) throw new Error(JSON.stringify(error))
  return result
}
