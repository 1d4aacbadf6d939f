import { Agent, request } from 'node:http'
import { now } from './clock.ts'
import { answerCalls } from './remote.ts'
import { percentile } from './statistics.ts'

// Calls at even intervals. Autocannon sends the calls of each second as fast as the answers come and then pauses,
// which measures full load.

type Pace = { url: string; apiKey: string; body: string; rate: number; seconds: number }
export type PacedFunctions = { measureP99(pace: Pace): Promise<number> }

const CONNECTIONS = 32

/** The p99 in milliseconds, from the moment at which each call was due. */
async function measureP99({ rate, seconds, ...target }: Pace): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const start = now()
  const calls: Promise<number>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(rate * seconds, ((now() - start) * rate) / 1_000)
      while (calls.length < due) calls.push(call(agent, target, start + (calls.length * 1_000) / rate))
      if (calls.length < rate * seconds) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  const times = await Promise.all(calls)
  agent.destroy()
  return percentile(times, 0.99)
}

type Target = Pick<Pace, 'url' | 'apiKey' | 'body'>

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

answerCalls({ measureP99 } satisfies PacedFunctions)
