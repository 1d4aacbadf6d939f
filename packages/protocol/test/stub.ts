type Method<A extends unknown[], R> = { method(...args: A): Stub<R> }['method']

/** A value of the type, or the members that a test needs, at every depth. Parameters may be narrower. */
type Stub<T> =
  | T
  | (T extends string
      ? string
      : T extends number | bigint | boolean | symbol | null | undefined
        ? T
        : T extends (...args: infer A) => infer R
          ? Method<A, R>
          : T extends Promise<infer V>
            ? Promise<Stub<V>>
            : T extends ReadonlyMap<infer K, infer V>
              ? ReadonlyMap<K, Stub<V>>
              : T extends readonly (infer V)[]
                ? readonly Stub<V>[]
                : { [K in keyof T]?: Stub<T[K]> })

/** A value with some of the members of its type, each checked against it. The code under test must need no other. */
export function stub<T>(members: Stub<T>): T {
  return Object(members)
}
