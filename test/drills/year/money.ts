import { parseUnits } from 'viem'
import { createApiClient } from '../../client.ts'
import { outcomeOf, prepare, submitPrepared, toRequest } from '../../world.ts'
import { sendBack } from '../attester-key-lost.ts'
import { reaches } from '../checks.ts'
import { moneyOf, startJourney } from '../journeys.ts'
import { seesAlarm } from '../observations.ts'
import { advance, type Month, quiet, restart, service } from './month.ts'
import { swapTo } from './swap-to.ts'

const AMOUNT = 10_000_000n
const SPIKE_WEI = 500n * 10n ** 9n
const SPIKE_MS = 10_000
const HALF_BLOCK_MS = 250
const DEPEG_USD = 0.93
const AFTER_EVERY_DEADLINE = 600

/** Of a previewed move or payout: the same, sent. */
async function send(month: Month, command: string, env?: Record<string, string>): Promise<void> {
  const preview = await service(month, command, env)
  const [, once = ''] = /--once (\w+)/.exec(preview) ?? []
  await service(month, `${command} --once ${once} --yes`, env)
}

/** From alpha to beta, through the treasury, which bridges in between. */
export async function rebalanceByHand(month: Month): Promise<void> {
  const { world, network } = month
  const treasury = network.keys.treasury.address
  await service(month, 'inventory status')
  await service(month, 'inventory plan --days 7')
  await service(month, 'pause --chain beta --asset USDC --note "rebalancing"')
  await send(month, `inventory withdraw --chain alpha --token USDC --amount 1000 --to ${treasury}`)
  month.moved('alpha', -1_000n * 10n ** 6n)
  await world.fund(world.beta, treasury, 'USDC', parseUnits('1000', 18))
  month.happens('a bridge pays 1000 USDC to the treasury on beta')
  await send(month, 'inventory deposit --chain beta --token USDC --amount 1000')
  month.moved('beta', parseUnits('1000', 18))
  await service(month, 'resume --chain beta --asset USDC --note "done"')
  await service(month, 'pause --note "a look at the stops"')
  const [, stop = ''] = /^(\d+) /m.exec(await service(month, 'stops')) ?? []
  await service(month, `resume --stop ${stop} --note "our own"`)
}

/** A fee that the account alice adds, paid out by the operator. */
export async function payFees(month: Month): Promise<void> {
  const { world, processes } = month
  const made = await month.type('npm run -s api-key -- create --name shop --network local')
  const [key = ''] = /gsk_\w+/.exec(made) ?? []
  const [row] = await month.query<{ id: string }>(`select id from accounts where name = 'shop'`)
  const accounts = [{ account: row?.id, maxIntegratorCentiBps: 10_000 }]
  month.configure((config) => ({ ...config, fees: { accounts } }))
  await restart(month, 'worker', 'api')
  const api = createApiClient({ apiUrl: processes.urlOf('api'), apiKey: key })
  const { alpha, beta } = world
  const wallet = await world.walletWith(alpha, 'USDC', AMOUNT)
  const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
  const asked = { ...order, integratorFeeCentiBps: 10_000 }
  month.sees(`with a fee of its own: ${(await api.quote(toRequest(wallet, asked))).status}`)
  const { swapId, quote } = await submitPrepared({ api }, await prepare({ api }, wallet, asked))
  await outcomeOf({ api }, swapId)
  month.moved('alpha', AMOUNT)
  month.moved('beta', -BigInt(quote.output))
  const isOwed = async () => /shop/.test(await service(month, 'fees status'))
  await month.until('the fee is owed', isOwed)
  const payee = somebody(month)
  await send(month, `fees payout --account shop --chain alpha --token USDC --amount 0.05 --to ${payee}`)
  month.moved('alpha', -50_000n)
}

const somebody = ({ network }: Month) => network.keys.keeper.address

/** Blocks of alpha cost a thousand times as much, and then as before. */
export async function goThroughGasSpike(month: Month): Promise<void> {
  const { client } = month.world.alpha
  const usual = (await client.getBlock()).baseFeePerGas ?? 0n
  let isOver = false
  const spike = (async () => {
    while (!isOver) {
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: SPIKE_WEI })
      await new Promise((resolve) => setTimeout(resolve, HALF_BLOCK_MS))
    }
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: usual })
  })()
  month.happens(`gas on alpha costs ${SPIKE_WEI / 10n ** 9n} gwei`)
  const before = month.traffic.made.length
  await new Promise((resolve) => setTimeout(resolve, SPIKE_MS))
  await service(month, 'fund plan')
  isOver = true
  await spike
  month.happens(
    `gas on alpha costs as before; ${month.traffic.made.length - before} swaps were submitted meanwhile`,
  )
  await month.until('a swap from alpha is quoted', async () => {
    const { alpha, beta, api } = month.world
    const order = { from: alpha, sell: 'USDC', to: beta, buy: 'USDC', amount: AMOUNT }
    return (await api.quote(toRequest({ address: somebody(month) }, order))).status === 200
  })
}

/** One dollar of the month is worth less for a while: the service sells it for what it is worth. */
export async function goThroughDepeg(month: Month): Promise<void> {
  const { world, solana } = month
  const order = { from: world.alpha, sell: 'USDC', to: solana, buy: 'USDG', amount: AMOUNT }
  const wallet = { address: somebody(month) }
  const recipient = (await solana.wallet({ USDG: 1n })).address
  const outputOf = async () => {
    const { body } = await world.api.quote({ ...toRequest(wallet, order), recipient })
    return Number(body.output ?? 0)
  }
  await world.setPrice('USDG', DEPEG_USD)
  month.happens(`USDG is worth ${DEPEG_USD} USD`)
  await month.until('ten USDC buy more than ten USDG', async () => (await outputOf()) > 1.04 * Number(AMOUNT))
  await swapTo(month, { to: solana, buy: 'USDG' })
  await world.setPrice('USDG', 1)
  await month.until('they buy fewer than ten again', async () => {
    const output = await outputOf()
    return output > 0 && output < Number(AMOUNT)
  })
  month.happens('USDG is worth a dollar again')
}

/** The attester is down until a stranger sends back an input that was paid for. */
export async function loseAnInput(month: Month): Promise<void> {
  const { processes } = month
  await quiet(month)
  await processes.stop('attester', 'SIGKILL')
  const journey = await startJourney(month, 'alpha', 'beta')
  month.lost = journey
  await reaches(month, journey, 'settled')
  await advance(month, AFTER_EVERY_DEADLINE, 'the time to claim passes')
  await sendBack(month, journey)
  const is = await journey.read()
  const isBoth = is.paid === journey.output && is.left === moneyOf(journey, 'refunded').left
  month.expects('the recipient was paid, and the wallet has its input again', isBoth)
  month.moved('beta', -journey.output)
  await seesAlarm(month, 'GeoswapInputLost')
  const lost = await service(month, 'swaps lost')
  const [id = ''] = /swp_\w+/.exec(lost) ?? []
  await service(month, `swaps show ${id}`)
  await service(month, `swaps trace ${id}`)
  await service(month, `swaps write-off ${id} --note "the attester was down"`)
  await restart(month, 'attester')
  month.traffic.resume()
  await service(month, 'swaps list --status settled --limit 50')
}
