import type { Account } from './account.ts'
import type { Stage } from './stage.ts'

/** A stage on which somebody tells what happens. */
export type Scene = Stage & Account
