import { Agent, request } from 'node:http'
import { delay, now } from './clock.ts'
import { answerCalls } from './remote.ts'
import { percentile } from './statistics.ts'

// Calls at even intervals. Autocannon sends the calls of each second as fast as the answers come and then pauses,
// which measures full load.

type Pace = { url: string; apiKey: string; body: string; rate: number; seconds: number }
type Target = Pick<Pace, 'url' | 'apiKey' | 'body'>
/** Of 1, such as 0.99. */
type Part = { part: number }
export type PacedFunctions = { measurePercentile(pace: Pace & Part): Promise<number> }

const CONNECTIONS = 32
const WARM_UP_SECONDS = 2

/** In milliseconds, from the moment at which each call was due. */
async function measurePercentile({ seconds, rate, part, ...target }: Pace & Part): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  await callEvenly(agent, target, { rate, count: rate * WARM_UP_SECONDS })
  const times = await callEvenly(agent, target, { rate, count: rate * seconds })
  agent.destroy()
  return percentile(times, part)
}

/** The time that each call took. */
async function callEvenly(agent: Agent, target: Target, { rate, count }: { rate: number; count: number }) {
  const start = now()
  const calls: Promise<number>[] = []
  while (calls.length < count) {
    const due = Math.min(count, ((now() - start) * rate) / 1_000)
    while (calls.length < due) {
      const sent = call(agent, target, start + (calls.length * 1_000) / rate)
      // Reported below, when all were sent.
      sent.catch(() => {})
      calls.push(sent)
    }
    await delay(1)
  }
  return Promise.all(calls)
}

function call(agent: Agent, { url, apiKey, body }: Target, dueAt: number): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().once('end', () => resolve(now() - dueAt))
    })
    sent.once('error', reject).end(body)
  })
}

answerCalls({ measurePercentile } satisfies PacedFunctions)
