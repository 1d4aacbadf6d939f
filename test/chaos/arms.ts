import { armFailPoints } from '../../packages/service/src/fail-point.ts'

// Bundled with the service only for a run. The armed fail-points can change while a process runs, so that not
// every process ends at the same point.
process.on('message', (message: { arms?: string }) => {
  if (message.arms !== undefined) armFailPoints(message.arms)
})
process.channel?.unref()
