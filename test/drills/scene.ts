import type { Report } from './report.ts'
import type { Stage } from './stage.ts'

/** The environment of a drill with its report. */
export type Scene = Stage & Report
