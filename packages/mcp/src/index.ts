export { openMcpContext } from './open-context.ts'
export { DEFAULT_PORT, serve } from './serve.ts'
