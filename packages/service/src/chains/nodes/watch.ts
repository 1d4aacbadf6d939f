/** Notes the calls to one node, and whether it answers. */
export type NodeWatch = { called(method: string): void; answered(): void; failed(): void }

export const unwatched: NodeWatch = { called() {}, answered() {}, failed() {} }
