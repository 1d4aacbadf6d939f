import { createHash } from 'node:crypto'
import { type Address, createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit'
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
  /** The owners of the token accounts; they also hold native coin. */
  vaults: { intake: Address; inventory: Address }
  feePayers: { input: Address; delivery: Address }
  tokens: DeployedMint[]
}

type Deployer = { client: SolanaClient; sender: SolanaSender; vaults: DeployedSolanaChain['vaults'] }

const SOL = 10n ** 9n
const FEE_MONEY = 1_000n * SOL
// More than a million dollars at the start price.
const NATIVE_INVENTORY = 10_000n * SOL
// Above an account's rent, since a first input of native coin may be smaller.
const INTAKE_MONEY = SOL
// The faucet gives away native coin. All lamports of a chain together must stay below 2^64.
const FAUCET_MONEY = 1n << 62n
const FINALIZED_LAG = 32
const CONFIRMATION_TIMEOUT_MS = 30_000

/**
 * Creates mints, token accounts, inventory and fee balances on a new chain. All of it is finalized on return.
 */
export async function deploySolana(
  chain: SolanaPlan & { rpcUrl: string; keys: SolanaKeys },
): Promise<DeployedSolanaChain> {
  const { keys } = chain
  const client = createSolanaClient(chain.rpcUrl)
  const vaults = { intake: keys.intake.address, inventory: keys.inventory.address }
  const feePayers = { input: keys.feePayers.input.address, delivery: keys.feePayers.delivery.address }

  await fundAccounts(client, keys)
  const sender = createSolanaSender(client, await createSolanaSigner(keys.faucet))
  const deployer = { client, sender, vaults }
  const tokens = await Promise.all(chain.tokens.map((token) => createMint(deployer, { chain, token })))
  await client.dev.dev_advanceSlots(FINALIZED_LAG).send()
  return { vaults, feePayers, tokens }
}

async function fundAccounts({ dev }: SolanaClient, keys: SolanaKeys): Promise<void> {
  const funds = [
    [keys.faucet, FAUCET_MONEY],
    [keys.feePayers.input, FEE_MONEY],
    [keys.feePayers.delivery, FEE_MONEY],
    [keys.inventory, NATIVE_INVENTORY],
    [keys.intake, INTAKE_MONEY],
  ] as const
  await Promise.all(
    funds.map(([{ address }, lamports]) => dev.dev_setAccount(address, { lamports: `${lamports}` }).send()),
  )
}

/** One transaction per mint: the mint, a token account in each vault, and the inventory. */
async function createMint(
  { client, sender, vaults }: Deployer,
  { chain, token }: { chain: SolanaPlan; token: MintPlan },
): Promise<DeployedMint> {
  const { signer: payer } = sender
  const { decimals, program: programAddress } = token
  const newAccount = await mintSigner(`${chain.name}/${token.symbol}`)
  const mint = newAccount.address
  const space = BigInt(getMintSize())
  const lamports = await client.rpc.getMinimumBalanceForRentExemption(space).send()
  const accountOf = async (owner: Address) => {
    const [ata] = await findAssociatedTokenPda({ owner, mint, tokenProgram: programAddress })
    return { payer, ata, owner, mint, tokenProgram: programAddress }
  }
  const [intake, inventory] = [await accountOf(vaults.intake), await accountOf(vaults.inventory)]
  const terms = { mint, decimals, mintAuthority: payer.address }
  const amount = amountWorth(INVENTORY_USD, token)
  const outcome = await sender.send(
    [
      getCreateAccountInstruction({ payer, newAccount, lamports, space, programAddress }),
      getInitializeMint2Instruction(terms, { programAddress }),
      getCreateAssociatedTokenIdempotentInstruction(intake),
      getCreateAssociatedTokenIdempotentInstruction(inventory),
      getMintToInstruction({ mint, token: inventory.ata, mintAuthority: payer, amount }, { programAddress }),
    ],
    CONFIRMATION_TIMEOUT_MS,
  )
  if (outcome.kind !== 'confirmed')
    throw new Error(`The mint of ${token.symbol} was not created: ${JSON.stringify(outcome)}`)
  return { ...token, address: mint }
}

// The same address at every start, like the tokens on the EVM chains. The key is not used afterwards: a
// mint's authority is another key.
function mintSigner(name: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(`geoswap/${name}`).digest())
}
