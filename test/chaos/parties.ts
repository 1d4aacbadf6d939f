import { generateKeyPairSigner } from '@solana/kit'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import type { SolanaWorld } from '../solana-world.ts'
import type { World } from '../world.ts'
import { addToBaseline } from './baseline.ts'
import { amountOf, type Party } from './clients/scene.ts'
import type { ClientPlan } from './plan.ts'
import { blocksOf, inTurn, type RunContext } from './run-context.ts'
import { isSent } from './sent.ts'

type Worlds = { world: World; solana: SolanaWorld }

const AT_ONCE = 100

/** Each client has its own wallet and recipient, so that their balances show the effect of its swap. */
export async function fundParties(worlds: Worlds, clients: readonly ClientPlan[]): Promise<Party[]> {
  const parties: Party[] = []
  for (let start = 0; start < clients.length; start += AT_ONCE)
    parties.push(
      ...(await Promise.all(clients.slice(start, start + AT_ONCE).map((client) => fund(worlds, client)))),
    )
  return parties
}

async function fund({ world, solana }: Worlds, client: ClientPlan): Promise<Party> {
  const { from, to } = client
  const recipient =
    to === 'solana' ? (await generateKeyPairSigner()).address : privateKeyToAddress(generatePrivateKey())
  if (from === 'solana')
    return { plan: client, recipient, wallet: await solana.wallet({ USDC: amountOf(client) }) }
  const wallet = privateKeyToAccount(generatePrivateKey())
  const payer = isSent(client.method) ? privateKeyToAddress(generatePrivateKey()) : undefined
  const [holder, amount] = payer ? [payer, 2n * amountOf(client)] : [wallet.address, amountOf(client)]
  if (client.sell !== 'ETH') await world.fund(world.chainNamed(from), holder, client.sell, amount)
  return { plan: client, recipient, wallet, ...(payer && { payer }) }
}

type Running = { field: RunContext; parties: Map<number, Party>; dir: string }

/** Wallets for clients that come later. No chain is reverted meanwhile, and what was minted stays. */
export async function fundMore(stage: Running, clients: readonly ClientPlan[]): Promise<void> {
  const { field, parties, dir } = stage
  const work = async () => {
    const more = await fundParties(field, clients)
    for (const party of more) parties.set(party.plan.id, party)
    addToBaseline({ dir, ...field }, more)
  }
  await field.chainNames.reduce((inside, place) => () => inTurn(field.turns, blocksOf(place), inside), work)()
}
