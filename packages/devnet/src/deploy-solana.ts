import { createHash } from 'node:crypto'
import { escrowProgram } from '@geoswap/solana-escrow/program'
import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  getBase64Decoder,
  type KeyPairSigner,
} from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
} from '@solana-program/token'
import type { SolanaKeys } from './keys.ts'
import { amountWorth, INVENTORY_USD, type MintPlan, type SolanaPlan } from './plan.ts'
import {
  createSolanaClient,
  createSolanaSender,
  createSolanaSigner,
  type SolanaClient,
  type SolanaSender,
} from './solana-sender.ts'

type DeployedMint = MintPlan & { address: Address }
export type DeployedSolanaChain = {
  /** The escrow program, which the faucet's key may change. */
  program: Address
  /** The owner of the inventory's token accounts; it also holds native coin. */
  vault: Address
  attester: Address
  feePayers: { input: Address; delivery: Address }
  tokens: DeployedMint[]
}

type Deployer = { client: SolanaClient; sender: SolanaSender; vault: Address }

const SOL = 10n ** 9n
const FEE_MONEY = 1_000n * SOL
// More than a million dollars at the start price.
const NATIVE_INVENTORY = 10_000n * SOL
// The faucet gives away native coin. All lamports of a chain together must stay below 2^64.
const FAUCET_MONEY = 1n << 62n
const FINALIZED_LAG = 32
const CONFIRMATION_TIMEOUT_MS = 120_000

/**
 * Installs the escrow program on a new chain, and creates mints, token accounts, inventory and fee balances. All
 * of it is finalized on return.
 */
export async function deploySolana(
  chain: SolanaPlan & { rpcUrl: string; keys: SolanaKeys },
): Promise<DeployedSolanaChain> {
  const { keys } = chain
  const client = createSolanaClient(chain.rpcUrl)
  const [vault, attester] = [keys.inventory.address, keys.attester.address]
  const feePayers = { input: keys.feePayers.input.address, delivery: keys.feePayers.delivery.address }

  await fundAccounts(client, keys)
  const { address: program } = await namedSigner(`${chain.name}/escrow`)
  const code = getBase64Decoder().decode(escrowProgram)
  await client.dev.dev_addProgram(program, [code, 'base64'], keys.faucet.address).send()
  const sender = createSolanaSender(client, await createSolanaSigner(keys.faucet))
  const deployer = { client, sender, vault }
  const tokens = await Promise.all(chain.tokens.map((token) => createMint(deployer, { chain, token })))
  await client.dev.dev_advanceSlots(FINALIZED_LAG).send()
  return { program, vault, attester, feePayers, tokens }
}

async function fundAccounts({ dev }: SolanaClient, keys: SolanaKeys): Promise<void> {
  const funds = [
    [keys.faucet, FAUCET_MONEY],
    [keys.feePayers.input, FEE_MONEY],
    [keys.feePayers.delivery, FEE_MONEY],
    [keys.inventory, NATIVE_INVENTORY],
  ] as const
  await Promise.all(
    funds.map(([{ address }, lamports]) => dev.dev_setAccount(address, { lamports: `${lamports}` }).send()),
  )
}

/** One transaction per mint: the mint, the vault's token account, and the inventory. */
async function createMint(
  { client, sender, vault }: Deployer,
  { chain, token }: { chain: SolanaPlan; token: MintPlan },
): Promise<DeployedMint> {
  const { signer: payer } = sender
  const { decimals, program: programAddress } = token
  const newAccount = await namedSigner(`${chain.name}/${token.symbol}`)
  const mint = newAccount.address
  const space = BigInt(getMintSize())
  const lamports = await client.rpc.getMinimumBalanceForRentExemption(space).send()
  const [ata] = await findAssociatedTokenPda({ owner: vault, mint, tokenProgram: programAddress })
  const inventory = { payer, ata, owner: vault, mint, tokenProgram: programAddress }
  const terms = { mint, decimals, mintAuthority: payer.address }
  const amount = amountWorth(INVENTORY_USD, token)
  const outcome = await sender.send(
    [
      getCreateAccountInstruction({ payer, newAccount, lamports, space, programAddress }),
      getInitializeMint2Instruction(terms, { programAddress }),
      getCreateAssociatedTokenIdempotentInstruction(inventory),
      getMintToInstruction({ mint, token: ata, mintAuthority: payer, amount }, { programAddress }),
    ],
    CONFIRMATION_TIMEOUT_MS,
  )
  if (outcome.kind !== 'confirmed')
    throw new Error(`The mint of ${token.symbol} was not created: ${JSON.stringify(outcome)}`)
  return { ...token, address: mint }
}

// The same address at every start, like the tokens on the EVM chains. The key is not used afterwards: a
// mint's authority is another key, and so is a program's.
function namedSigner(name: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(`geoswap/${name}`).digest())
}
