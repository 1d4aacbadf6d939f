import type { BuildGeoOpReply } from '@geoswap/wire'
import type { Address } from 'viem'
import { pay } from '../../ways.ts'
import type { EvmChainName } from '../plan.ts'
import { follow } from './follow.ts'
import { amountOf, type Party, type Scene } from './scene.ts'

type Opened = { from: EvmChainName; build: BuildGeoOpReply; swapId: string }

/** Pays to the op's address: the input, or more, less, too late or nothing. */
export async function deposit(scene: Scene, party: Party, opened: Opened): Promise<void> {
  const { behaviour } = party.plan
  if (behaviour === 'lateDeposit') await follow(scene, opened.swapId)
  for (const amount of amountsOf(scene, party)) await send(scene, party, opened, amount)
}

function amountsOf({ random }: Scene, { plan }: Party): bigint[] {
  const due = amountOf(plan)
  switch (plan.behaviour) {
    case 'missingDeposit':
      return []
    case 'smallDeposit':
      return [(due * 9n) / 10n]
    case 'largeDeposit':
      return [(due * 3n) / 2n]
    case 'twoDeposits':
      return [due, due]
    default:
      return random.next() < 0.3 ? [due / 2n, due - due / 2n] : [due]
  }
}

async function send({ world, caller }: Scene, party: Party, opened: Opened, amount: bigint): Promise<void> {
  const { plan, payer } = party
  const chain = world.chainNamed(opened.from)
  const address = opened.build.depositAddress as Address
  if (!payer) throw new Error('Nobody pays this deposit')
  const txHash = await pay(chain, payer, { to: address, symbol: plan.sell, amount })
  const token = chain.token(plan.sell)
  caller.note({ type: 'paid', chain: opened.from, address, token, amount: `${amount}`, txHash })
}
