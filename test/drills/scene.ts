import type { Account } from './account.ts'
import type { Stage } from './stage.ts'

/** The environment of a drill with its report. */
export type Scene = Stage & Account
