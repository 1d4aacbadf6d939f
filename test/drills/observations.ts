import { fires } from '../../scripts/alert-rules.ts'
import { toRequest } from '../world.ts'
import { getRule } from './alarms.ts'
import type { Role } from './processes.ts'
import type { Scene } from './scene.ts'

// Observations of an operator.

/** Waits for the condition of an alarm on the metrics that Prometheus would scrape. */
export async function seesAlarm(scene: Scene, name: string, timeoutMs?: number): Promise<void> {
  const { expr, for: patience } = getRule(name)
  const isSounding = async () => fires(expr, await scene.processes.scrape())
  await scene.until(`the condition of ${name}`, isSounding, timeoutMs)
  scene.sees(`alarm ${name}: ${expr}${patience ? `, told after ${patience}` : ''}`)
}

export async function seesInLog(scene: Scene, role: Role, text: string): Promise<void> {
  const find = async () =>
    scene.processes
      .logOf(role)
      .split('\n')
      .find((line) => line.includes(text))
  const line = await scene.until(`"${text}" in the log of the ${role}`, find)
  scene.sees(`log of the ${role}: ${describeLine(line)}`)
}

type Side = { chainId: number; token(symbol: string): string }
type Asked = { what: string; to: Side; symbol?: string; answer: string }

/** Waits until a quote of USDC on alpha for this token gets this answer. */
export async function seesQuote(scene: Scene, { what, to, symbol = 'USDC', answer }: Asked): Promise<void> {
  const { world, solana } = scene
  const order = { from: world.alpha, sell: 'USDC', to, buy: symbol, amount: 10_000_000n }
  const wallet = { address: '0x00000000000000000000000000000000000000aa' }
  const recipient = to === solana && { recipient: solana.payer.address }
  const isAnswered = async () => {
    const { status, body } = await world.api.quote({ ...toRequest(wallet, order), ...recipient })
    return answer === (body.code === undefined ? String(status) : `${status} ${body.code}`)
  }
  await scene.until(`a quote ${what} is ${answer}`, isAnswered)
  scene.sees(`POST /swap/quote ${what}: ${answer}`)
}

type Line = { msg: string; chain?: string; why?: string; err?: { message: string } }

/** The parts of a log line that people read first. */
function describeLine(line: string): string {
  const { msg, chain, why, err }: Line = JSON.parse(line)
  const cause = err && (/^Details: (.*)$/m.exec(err.message)?.[1] ?? err.message.split('\n')[0])
  return [msg, chain && `chain ${chain}`, why, cause].filter(Boolean).join(' · ')
}
