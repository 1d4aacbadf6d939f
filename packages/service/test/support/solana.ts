import { hashDelivery, toBytes32 } from '@geoswap/protocol'
import { escrowProgram } from '@geoswap/solana-escrow/program'
import { startSolanaChain } from '@geoswap/solana-rpc'
import {
  type Address,
  appendTransactionMessageInstructions,
  createDefaultRpcTransport,
  createJsonRpcApi,
  createRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64Decoder,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { type Mint, NATIVE_TOKEN, readMint } from '../../src/chains/solana/accounts.ts'
import { createSolanaClient } from '../../src/chains/solana/client.ts'
import { type Rent, readRent } from '../../src/chains/solana/facts.ts'
import { readBlockhash } from '../../src/chains/solana/heads.ts'
import { buildInput, type InputRequest } from '../../src/chains/solana/input.ts'
import type { SolanaParts } from '../../src/chains/solana/parts.ts'
import { compilePayment, type Payment, signPayment } from '../../src/chains/solana/plans.ts'
import { broadcast } from '../../src/chains/solana/send.ts'
import type { SolanaSigner } from '../../src/chains/solana/settings.ts'
import { stub } from './stub.ts'

type DevApi = {
  dev_pauseSlots(): number
  dev_advanceSlots(count: number): number
  dev_dropTransactions(count: number): null
  dev_setAccount(address: string, account: object): null
  dev_addProgram(address: string, code: [text: string, encoding: string]): null
  dev_advanceClock(seconds: number): number
}

export const SOL = 1_000_000_000n
export const OP_HASH = `0x${'ab'.repeat(32)}`
const PRICE = 1_000n

export type SolanaWorld = Awaited<ReturnType<typeof startSolanaWorld>>
export type TestMint = Mint & { authority: KeyPairSigner }

/** A chain whose time only the test advances, with the escrow program and funded keys. */
export async function startSolanaWorld() {
  const chain = await startSolanaChain({ port: 0 })
  const client = createSolanaClient({ urls: [chain.rpcUrl] })
  const dev = createRpc({
    api: createJsonRpcApi<DevApi>({ responseTransformer: resultOf }),
    transport: createDefaultRpcTransport({ url: chain.rpcUrl }),
  })
  await dev.dev_pauseSlots().send()
  const advance = (count: number) => dev.dev_advanceSlots(count).send()

  async function fund(to: string, amount = 10n * SOL): Promise<void> {
    await client.rpc.requestAirdrop(to as Address, lamports(amount)).send()
    await advance(1)
  }

  async function fundedSigner(amount?: bigint): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner()
    await fund(signer.address, amount)
    return signer
  }

  /** Lands the instructions, confirmed; throws if they fail. */
  async function run(payer: KeyPairSigner, instructions: Instruction[]): Promise<string> {
    const { value: lifetime } = await client.rpc.getLatestBlockhash().send()
    const signed = await pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(payer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
      (message) => signTransactionMessageWithSigners(message),
    )
    const options = { encoding: 'base64', preflightCommitment: 'processed' } as const
    await client.rpc.sendTransaction(getBase64EncodedWireTransaction(signed), options).send()
    await advance(1)
    return getSignatureFromTransaction(signed)
  }

  const [feePayer, authority, payer] = [
    await fundedSigner(),
    await fundedSigner(),
    await fundedSigner(1_000n * SOL),
  ]
  const attester = await generateKeyPairSigner()
  const program = (await generateKeyPairSigner()).address
  await dev.dev_addProgram(program, [getBase64Decoder().decode(escrowProgram), 'base64']).send()
  const rent = await readRent(client)
  const escrow = { program, vault: authority.address, attester: attester.address }

  return {
    chain,
    client,
    dev,
    advance,
    fund,
    fundedSigner,
    run,
    feePayer,
    authority,
    attester,
    escrow,
    /** For checks of inputs. */
    settings: stub<SolanaParts['settings']>({ ...escrow, chainId: 1 }),
    facts: { rent: async () => rent } as SolanaParts['facts'],
    payer,
    rent,

    async createMint(options: MintOptions = {}): Promise<TestMint> {
      const mint = await createMintAccount({ payer, run, rent: (size) => rentOf(client, size) }, options)
      const found = await readMint(client, mint)
      if (!found) throw new Error('No mint')
      return { ...found, authority: payer }
    },

    /** Creates the owner's associated token account with this amount. */
    async give(token: Pick<Mint, 'mint' | 'program'>, owner: string, amount: bigint): Promise<Address> {
      const of = { mint: token.mint as Address, tokenProgram: token.program as Address }
      const [ata] = await findAssociatedTokenPda({ owner: owner as Address, ...of })
      const mintTo = { mint: of.mint, token: ata, mintAuthority: payer, amount }
      await run(payer, [
        getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: owner as Address, ...of }),
        ...(amount > 0n ? [getMintToInstruction(mintTo, { programAddress: of.tokenProgram })] : []),
      ])
      return ata
    },

    async send(to: string, amount: bigint): Promise<void> {
      const transfer = { source: payer, destination: to as Address, amount: lamports(amount) }
      await run(payer, [getTransferSolInstruction(transfer)])
    },

    async land(raw: string): Promise<void> {
      await broadcast(client, raw)
      await advance(1)
    },

    /** `op` tells the ops of a test apart. */
    async payment({ op = OP_HASH, fillDeadline, ...of }: PaymentOf): Promise<Payment> {
      const late = fillDeadline ?? Math.floor(Date.now() / 1_000) + 3_600
      const known = { index: 1n, destinationChain: 1n, minOutput: 1n, fillDeadline: BigInt(late) }
      const order = { ring: `0x${op.replace(/^0x/, '')}` as const, ...known }
      const parties = { vault: toBytes32(escrow.vault), recipient: toBytes32(of.to) }
      const deliveryHash = hashDelivery({ ...order, ...parties, outputToken: toBytes32(of.token.mint) })
      const price = { microLamportsPerUnit: PRICE, lifetime: await readBlockhash(client) }
      return { order, deliveryHash, ...price, ...of }
    },

    /** A delivery, signed by the fee payer and the vault. */
    async pay(of: PaymentOf, signers: readonly [SolanaSigner, SolanaSigner] = [feePayer, authority]) {
      const payers = { ...escrow, feePayer: feePayer.address, markerLamports: rent.markerLamports }
      const payment = await this.payment(of)
      const signed = await signPayment(await compilePayment(payers, payment), signers)
      return { ...signed, deliveryHash: payment.deliveryHash }
    },

    async inputRequest(of: Pick<InputRequest, 'wallet'> & Partial<InputRequest>): Promise<InputRequest> {
      return {
        opHash: OP_HASH,
        token: NATIVE_TOKEN,
        amount: SOL,
        microLamportsPerUnit: PRICE,
        feePayer: feePayer.address,
        refundDeadline: Math.floor(Date.now() / 1_000) + 7_200,
        lifetime: await readBlockhash(client),
        ...of,
      }
    },

    async input(of: Pick<InputRequest, 'wallet'> & Partial<InputRequest>) {
      return buildInput(escrow, await this.inputRequest(of))
    },
  }
}

type PaymentOf = Pick<Payment, 'to' | 'token' | 'amount'> &
  Partial<Payment> & { op?: string; fillDeadline?: number }

type MintOptions = {
  program?: string
  freezable?: boolean
  /** Additional bytes of the mint, and the instruction that writes them before it is initialized. */
  extension?: { bytes: number; initialize(mint: Address): Instruction }
}
type Maker = {
  payer: KeyPairSigner
  run(payer: KeyPairSigner, instructions: Instruction[]): Promise<string>
  rent(size: bigint): Promise<Rent['emptyLamports']>
}

async function createMintAccount({ payer, run, rent }: Maker, options: MintOptions): Promise<string> {
  const { program = TOKEN_PROGRAM_ADDRESS, freezable = true, extension } = options
  const mint = await generateKeyPairSigner()
  const space = BigInt(extension ? 165 + 1 + 4 + extension.bytes : getMintSize())
  const programAddress = program as Address
  const create = { payer, newAccount: mint, lamports: await rent(space), space, programAddress }
  const authorities = {
    mintAuthority: payer.address,
    ...(freezable && { freezeAuthority: payer.address }),
  }
  await run(payer, [
    getCreateAccountInstruction(create),
    ...(extension ? [extension.initialize(mint.address)] : []),
    getInitializeMint2Instruction({ mint: mint.address, decimals: 6, ...authorities }, { programAddress }),
  ])
  return mint.address
}

async function rentOf(client: ReturnType<typeof createSolanaClient>, size: bigint): Promise<bigint> {
  return client.rpc.getMinimumBalanceForRentExemption(size).send()
}

function resultOf<Result>(response: unknown): Result {
  const { result, error } = response as { result: Result; error?: unknown }
  if (error) throw new Error(JSON.stringify(error))
  return result
}
