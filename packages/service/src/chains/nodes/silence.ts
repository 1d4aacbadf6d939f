/** A node did not answer, or not to the question. */
export class NodeSilence extends Error {
  override name = 'NodeSilence'
}

const MAX_DEPTH = 10

/** Whether an error, or one that caused it, says that a node or the way to it was silent. */
export function isNodeSilence(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => cause instanceof NodeSilence || isOfSystem(cause) || isAborted(cause),
  )
}

/** The error and what caused it, outermost first. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = []
  for (let cause = error; cause instanceof Error && causes.length < MAX_DEPTH; cause = cause.cause)
    causes.push(cause)
  return causes
}

/** A refused or broken connection. */
const isOfSystem = (error: Error) => 'syscall' in error

/** The platform gives these no class of their own. */
const isAborted = (error: Error) =>
  error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError')
