import { npmRun } from './npm-run.ts'
import type { Scene } from './scene.ts'

// An operator's commands, exactly as in the runbook. Their output is reported and returned.

export const service = (scene: Scene, ...args: string[]): Promise<string> => run(scene, 'service', args)

/** With the seal keys of the API. */
export function webhook(scene: Scene, ...args: string[]): Promise<string> {
  const { GEOSWAP_SEAL_KEYS = '' } = scene.processes.secrets.api
  return run(scene, 'webhook', args, { GEOSWAP_SEAL_KEYS })
}

/** With the key of the treasury. */
export function treasury(scene: Scene, ...args: string[]): Promise<string> {
  const { privateKey } = scene.network.keys.treasury
  return run(scene, 'service', ['treasury', ...args], { GEOSWAP_TREASURY_KEY: privateKey })
}

type Env = Record<string, string>

async function run(scene: Scene, script: string, args: readonly string[], env: Env = {}): Promise<string> {
  const { code, text } = await npmRun(scene.network, { script, args, env })
  scene.does(`npm run -s ${script} -- ${args.map(quoteWord).join(' ')}\n${text}`)
  scene.expects('the command ended with 0', code === 0, `with ${code}`)
  return text
}

const quoteWord = (word: string) => (/\s/.test(word) ? `"${word}"` : word)
