// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @dev The base of the tokens below: anyone can mint.
abstract contract OpenToken is ERC20 {
    constructor() ERC20("Token", "TOK") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @dev Keeps one percent of each transfer.
contract FeeToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        _burn(msg.sender, amount / 100);
        return super.transfer(to, amount - amount / 100);
    }
}

/// @dev Takes one percent more than asked from the sender.
contract SenderFeeToken is OpenToken {
    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        _burn(from, amount / 100);
        return super.transferFrom(from, to, amount);
    }
}

/// @dev Returns false when configured to.
contract FalseToken is OpenToken {
    bool public refuses;

    function setRefuses(bool value) external {
        refuses = value;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return refuses ? false : super.transfer(to, amount);
    }
}

/// @dev Returns true and moves nothing.
contract LyingToken is OpenToken {
    function transfer(address, uint256) public pure override returns (bool) {
        return true;
    }
}

/// @dev Moves the whole balance when asked for the largest number.
contract WholeBalanceToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        return super.transfer(to, amount == type(uint256).max ? balanceOf(msg.sender) : amount);
    }
}

/// @dev Moves at most 60 units at once, and says that it moved all.
contract LimitToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        return super.transfer(to, amount > 60 ? 60 : amount);
    }
}

/// @dev Treats the largest number as a sum that wraps around: takes one unit from the receiver.
contract WrappingToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        if (amount != type(uint256).max) return super.transfer(to, amount);
        _burn(to, 1);
        return true;
    }
}

/// @dev Has a list of blocked holders and a pause.
contract BlockToken is OpenToken {
    error Blocked();

    mapping(address holder => bool) public isBlocked;
    bool public isPaused;

    function setBlocked(address holder, bool value) external {
        isBlocked[holder] = value;
    }

    function setPaused(bool value) external {
        isPaused = value;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (isPaused || isBlocked[from] || isBlocked[to]) revert Blocked();
        super._update(from, to, amount);
    }
}

/// @dev Keeps one percent of each transfer, and has a list of blocked holders.
contract BlockedFeeToken is BlockToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        _burn(msg.sender, amount / 100);
        return super.transfer(to, amount - amount / 100);
    }
}

/// @dev Burns a configured amount of gas in transfer or balanceOf.
contract GasToken is OpenToken {
    uint256 public transferBurns;
    uint256 public balanceBurns;

    function setBurns(uint256 inTransfer, uint256 inBalance) external {
        (transferBurns, balanceBurns) = (inTransfer, inBalance);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        _burnGas(transferBurns);
        return super.transfer(to, amount);
    }

    function balanceOf(address holder) public view override returns (uint256) {
        _burnGas(balanceBurns);
        return super.balanceOf(holder);
    }

    function _burnGas(uint256 amount) private view {
        if (amount == 0) return;
        uint256 target = gasleft() > amount ? gasleft() - amount : 0;
        while (gasleft() > target) {}
    }
}

/// @dev Honest, but needs most of the gas that the vault grants to a delivery whose output it measures.
contract WaryToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        return gasleft() < 230_000 ? false : super.transfer(to, amount);
    }
}

/// @dev Honest, but needs most of the gas that the vault grants to a payment.
contract CautiousToken is OpenToken {
    function transfer(address to, uint256 amount) public override returns (bool) {
        return gasleft() < 140_000 ? false : super.transfer(to, amount);
    }
}

/// @dev Needs most of the gas that the escrow grants to a payment, and to a reading of a balance.
contract DemandingToken is OpenToken {
    function balanceOf(address owner) public view override returns (uint256) {
        require(gasleft() >= 45_000, "too little gas");
        return super.balanceOf(owner);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return gasleft() < 190_000 ? false : super.transfer(to, amount);
    }
}

/// @dev Returns as much data as its gas can pay for, and refuses.
contract BombToken is OpenToken {
    bool public isArmed;

    function setArmed(bool value) external {
        isArmed = value;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (!isArmed) return super.transfer(to, amount);
        assembly {
            revert(0, 0x38000)
        }
    }
}

/// @dev Calls a hook before it moves anything, like an ERC-777 sender hook.
contract HookToken is OpenToken {
    address public target;
    bytes public data;
    bool public lastOk;
    bytes public lastResult;

    function setHook(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        address hook = target;
        if (hook != address(0)) {
            target = address(0);
            (lastOk, lastResult) = hook.call(data);
        }
        return super.transfer(to, amount);
    }
}

/// @dev Returns nothing, and approves only from or to zero, like USDT.
contract NoReturnToken {
    mapping(address holder => uint256) public balanceOf;
    mapping(address holder => mapping(address spender => uint256)) public allowance;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0, "approve from non-zero");
        allowance[msg.sender][spender] = amount;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}
