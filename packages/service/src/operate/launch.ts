import type { Env, Output } from '../command.ts'
import { deploy } from './deploy.ts'
import { fund } from './fund.ts'
import { treasury } from './treasury/treasury.ts'

export const LAUNCH_HELP = `launch [--stock CHAIN:TOKEN=AMOUNT]...
      Runs migrate, deploy, fund apply and treasury apply with these wishes, each after the one before. Nothing that is
      done is done again: repeat it after whatever stopped it, such as a deployer without gas coin.`

/** From an empty database and bare chains to a service that can start. */
export async function launch(
  args: string[],
  env: Env,
  output: Output,
  migrate: () => Promise<void>,
): Promise<number> {
  await migrate()
  const steps = [
    () => deploy([], env, output),
    () => fund(['apply'], env, output),
    () => treasury(['apply', ...args], env, output),
  ]
  for (const step of steps) {
    const code = await step()
    if (code !== 0) return code
  }
  return 0
}
