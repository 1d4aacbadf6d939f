// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IUniswapV3Factory
/// @notice The part of a Uniswap V3 factory that the adapter uses.
interface IUniswapV3Factory {
    /// @notice The pool of two tokens, in either order, at a fee; the zero address if there is none.
    /// @param tokenA One token.
    /// @param tokenB The other.
    /// @param fee In millionths.
    function getPool(address tokenA, address tokenB, uint24 fee) external view returns (address pool);
}

/// @title IUniswapV3Pool
/// @notice The part of a Uniswap V3 pool that the adapter uses.
interface IUniswapV3Pool {
    /// @notice Sends the output, calls `uniswapV3SwapCallback` on the caller, and reverts unless the input was paid.
    /// @param recipient The recipient of the output.
    /// @param zeroForOne Whether token0 is sold.
    /// @param amountSpecified The amount to sell, or the negative of the amount to buy.
    /// @param sqrtPriceLimitX96 The swap stops at this price, even if it is incomplete.
    /// @param data Passed to the callback.
    /// @return amount0 The change of the pool's token0.
    /// @return amount1 The change of the pool's token1.
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1);
}
